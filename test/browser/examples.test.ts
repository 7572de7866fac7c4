import axe, { type AxeResults } from 'axe-core';
import type { Page, Request } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DatabaseFault } from '../../src/gateway/errors.ts';
import { samplePet } from '../../src/petstore/pets/pet.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { startProcess } from '../support/process.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { describeInBrowser } from './chromium.ts';
import { serveExample } from './served-example.ts';

const EXAMPLES = ['react-apollo', 'react-urql'];
const ANIMALS = 12;

const alert = (page: Page) => page.getByRole('alert').filter({ hasText: /./ });
const rows = (page: Page) => page.getByRole('list', { name: 'Animals' }).getByRole('listitem');
const more = (page: Page) => page.getByRole('button', { name: 'Load more' });
const row = (page: Page, name: string) => rows(page).filter({ hasText: name });

async function useKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Use this key' }).click();
}

async function add(page: Page, name: string, category = '3'): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Category').fill(category);
  await page.getByRole('button', { name: 'Add' }).click();
}

async function loadAll(page: Page): Promise<void> {
  await rows(page).first().waitFor();
  for (let shown = await rows(page).count(); await more(page).isVisible(); shown = await rows(page).count()) {
    await more(page).click();
    // The last page may hold only what was added here and is shown already.
    const wentOn = async () => (await rows(page).count()) > shown || !(await more(page).isVisible());
    await expect.poll(wentOn, { timeout: 30_000 }).toBe(true);
  }
}

describeInBrowser('the examples', (browser) => {
  let inside: TestGateway;
  let proxy: TcpProxy;
  let ports: Record<'own' | 'limited' | 'inside' | 'nobody', number>;
  let addresses: Record<string, string>;
  let readOnlyKey: string;
  /** What the database does with the next creates of the gateway in this process. */
  let faults: Error[] = [];

  beforeAll(async () => {
    const DATABASE_URL = await SQLITE.freshDatabase();
    inside = await startGateway(SQLITE, { DATABASE_URL });
    await inside.pets.addAll(Array.from({ length: ANIMALS }, (_, index) => samplePet(index)));
    readOnlyKey = (await inside.keys.create({ name: 'reader', expiresAt: null, readOnly: true })).key;
    const { client } = inside.database.knex;
    const transaction = client.transaction.bind(client);
    client.transaction = (...words: unknown[]) => {
      const fault = faults.shift();
      return fault ? Promise.reject(fault) : transaction(...words);
    };
    const [own, limited] = await Promise.all([
      startProcess({ DATABASE_URL }),
      startProcess({ DATABASE_URL, RATE_LIMIT: '3/6s' }),
    ]);
    proxy = await startTcpProxy(own.url);
    const portOf = (url: string) => Number(new URL(url).port);
    ports = { own: portOf(own.url), limited: portOf(limited.url), inside: inside.port, nobody: await freePort() };
    const served = await Promise.all(EXAMPLES.map((name) => serveExample(name, new URL(proxy.url).origin)));
    addresses = Object.fromEntries(EXAMPLES.map((name, index) => [name, served[index] ?? '']));
  }, 600_000);

  /** From now on the apps talk to another gateway. */
  function leadTo(gateway: keyof typeof ports): void {
    proxy.move(ports[gateway]);
    proxy.cut(); // a browser keeps its connections
  }

  afterEach(() => {
    faults = [];
    proxy.delayAnswers(0);
    proxy.swallowAnswersTo(undefined);
    leadTo('own');
  });

  /** The app with a key, and every AddPet that it sends. */
  async function open(name: string, key = inside.key): Promise<{ page: Page; sent: Request[] }> {
    const page = await (await browser().newContext()).newPage();
    page.setDefaultTimeout(60_000);
    const sent: Request[] = [];
    page.on('request', (request) => request.postData()?.includes('AddPet') && sent.push(request));
    await page.goto(addresses[name] ?? '');
    await useKey(page, key);
    return { page, sent };
  }

  const count = async (name: string) => {
    const [found] = await inside.database.knex('pets').where({ name }).count({ count: '*' });
    return Number(found?.count);
  };
  const countAll = async () => (await inside.database.knex('pets').pluck('id')).length;
  const keysOf = (sent: readonly Request[]) => new Set(sent.map((request) => request.headers()['idempotency-key']));

  describe.each(EXAMPLES)('%s', (name) => {
    test('asks for nothing without a key, and has no fault that axe finds', async () => {
      const page = await (await browser().newContext()).newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(addresses[name] ?? '');
      await page.getByText('Every request needs an API key').waitFor();
      expect(asked.filter((url) => url.endsWith('/graphql'))).toEqual([]);
      await useKey(page, inside.key);
      await rows(page).first().waitFor();
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<AxeResults>('axe.run()');
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([]);
    });

    test('loads page after page to the end: every animal once, in order', async () => {
      const { page } = await open(name);
      await more(page).waitFor();
      await add(page, `Uma of ${name}`); // shown before the pages that come before it
      await row(page, 'Uma').and(page.locator('[aria-busy=false]')).waitFor();
      await loadAll(page);
      await page.getByText(`${await countAll()} animals`).waitFor();
      const texts = await rows(page).allTextContents();
      const ids = texts.map((text) => Number(/ (\d+), category/.exec(text)?.[1]));
      expect(ids).toEqual((await inside.database.knex('pets').orderBy('id').pluck('id')).map(Number));
    });

    test('filters by status, with pages of its own', async () => {
      const { page } = await open(name);
      await page.getByLabel('Show').selectOption('AVAILABLE');
      await expect
        .poll(() => rows(page).allTextContents())
        .not.toContainEqual(expect.stringMatching(/SOLD|PENDING|no status/));
      await loadAll(page);
      const available = await inside.database.knex('pets').where({ status: 'available' }).pluck('name');
      expect(await rows(page).locator('b').allTextContents()).toEqual(available);
      await page.getByLabel('Status').selectOption('SOLD');
      await add(page, `Sam of ${name}`);
      await expect.poll(() => page.getByLabel('Name').inputValue()).toBe(''); // it was added
      expect(await row(page, 'Sam').count()).toBe(0); // to other lists
      await page.getByLabel('Show').selectOption('all');
      await row(page, 'Rio').waitFor(); // it is pending
    });

    test('shows what is added at once, and its id when the answer comes', async () => {
      const { page } = await open(name);
      await loadAll(page);
      const shown = await rows(page).count();
      proxy.delayAnswers(3000);
      await add(page, `Ada of ${name}`);
      await page.locator('li[aria-busy=true]', { hasText: 'adding' }).waitFor();
      await row(page, `Ada of ${name}`).and(page.locator('[aria-busy=false]')).waitFor();
      expect(await rows(page).count()).toBe(shown + 1);
      await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('');
      await add(page, `Ada of ${name}`);
      await expect.poll(() => rows(page).count()).toBe(shown + 2); // another intent
      await expect.poll(() => count(`Ada of ${name}`)).toBe(2);
    });

    test('refused twice, then right: it waits as long as it is told, sends the same key, and one animal is added', async () => {
      leadTo('inside');
      const { page, sent } = await open(name);
      await loadAll(page);
      faults = [new DatabaseFault('unavailable'), new DatabaseFault('unavailable')];
      await add(page, `Tom of ${name}`);
      await page.getByText('Next try after 1 s').waitFor();
      await page.locator('li[aria-busy=true]', { hasText: `Tom of ${name}` }).waitFor();
      await row(page, `Tom of ${name}`).and(page.locator('[aria-busy=false]')).waitFor();
      expect([sent.length, keysOf(sent).size, await count(`Tom of ${name}`)]).toEqual([3, 1, 1]);
      const times = sent.map((request) => request.timing().startTime);
      const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(990);
    });

    test('an answer that is lost after the animal was added does not add a second one', async () => {
      const { page, sent } = await open(name);
      await loadAll(page);
      proxy.swallowAnswersTo(/AddPet/);
      await add(page, `Eva of ${name}`);
      await expect.poll(() => count(`Eva of ${name}`)).toBe(1);
      proxy.swallowAnswersTo(undefined);
      // It has to give up by itself: a connection that is cut is opened again by the browser, without a word.
      await row(page, `Eva of ${name}`).and(page.locator('[aria-busy=false]')).waitFor();
      expect([sent.length, keysOf(sent).size, await count(`Eva of ${name}`)]).toEqual([2, 1, 1]);
    });

    test('a gateway that refuses all tries leaves the animal in the form: the next press sends the same key', async () => {
      leadTo('inside');
      const { page, sent } = await open(name);
      await rows(page).first().waitFor();
      faults = Array.from({ length: 5 }, () => new DatabaseFault('unavailable'));
      await add(page, `Kim of ${name}`);
      await alert(page).getByText('temporarily unavailable').waitFor();
      expect([await row(page, 'Kim').count(), await page.getByLabel('Name').inputValue()]).toEqual([
        0,
        `Kim of ${name}`,
      ]);
      await page.getByRole('button', { name: 'Add' }).click();
      await expect.poll(() => count(`Kim of ${name}`)).toBe(1);
      expect([sent.length, keysOf(sent).size]).toEqual([6, 1]);
    });

    test('beyond the rate limit it waits and goes on', async () => {
      leadTo('limited');
      const { page } = await open(name);
      const waited = page.getByText(/Next try after \d s/).waitFor();
      await loadAll(page);
      for (const status of ['SOLD', 'PENDING', 'AVAILABLE']) await page.getByLabel('Show').selectOption(status);
      await waited;
      await row(page, 'Luna').waitFor();
    });

    test.each([
      ['an unknown key', () => `${inside.key.slice(0, -1)}_`, 'API key'],
      ['a read-only key', () => readOnlyKey, 'This API key may only read.'],
    ])('%s is told', async (_what, key, message) => {
      const { page } = await open(name, key());
      await add(page, 'Rex');
      await alert(page).getByText(message).first().waitFor();
      expect(await count('Rex')).toBe(0);
    });

    test('a wrong value is told at its field; corrected, it is another intent', async () => {
      const { page, sent } = await open(name);
      await rows(page).first().waitFor();
      await add(page, `Zoe of ${name}`, 'dogs');
      await alert(page).getByText('categoryId').waitFor();
      expect(await page.locator('[aria-invalid=true]').getAttribute('name')).toBe('categoryId');
      expect(await page.getByLabel('Category').inputValue()).toBe('dogs');
      await page.getByLabel('Category').fill('3');
      await page.getByRole('button', { name: 'Add' }).click();
      await row(page, `Zoe of ${name}`).and(page.locator('[aria-busy=false]')).waitFor();
      await expect.poll(() => alert(page).count()).toBe(0);
      expect([keysOf(sent).size, await count(`Zoe of ${name}`)]).toEqual([2, 1]);
    });

    test('a fault of the gateway is told, and is not tried again', async () => {
      leadTo('inside');
      const { page, sent } = await open(name);
      await rows(page).first().waitFor();
      faults = [new TypeError('a fault for the test')];
      await add(page, `Ivo of ${name}`);
      await alert(page).getByText('An internal error occurred.').waitFor();
      expect([sent.length, await count(`Ivo of ${name}`)]).toEqual([1, 0]);
    });

    test('a page that cannot be loaded is told below those that are shown; "Try again" goes on', async () => {
      const { page } = await open(name);
      await more(page).waitFor();
      const before = await rows(page).allTextContents();
      leadTo('nobody');
      await more(page).click();
      await alert(page).getByText('The service cannot be reached.').waitFor();
      expect(await rows(page).allTextContents()).toEqual(before);
      leadTo('own');
      await page.getByRole('button', { name: 'Try again' }).click();
      await expect.poll(() => rows(page).count()).toBeGreaterThan(before.length);
      expect(await alert(page).count()).toBe(0);
    });
  });
});
