import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { samplePet } from '../../src/petstore/pets/pet.ts';
import { PET_TABS } from '../../src/petstore/pets/pet-operations.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { has } from '../support/tools.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const gateway = await startGateway(SQLITE);
await gateway.pets.addAll(Array.from({ length: 12 }, (_, index) => samplePet(index)));
const { url, key } = gateway;

const titles = PET_TABS.map(({ query }) => /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '');
const form = (page: Page) => page.locator('#key-form');
const docs = (page: Page) => page.locator('.graphiql-plugin');
const tabs = (page: Page) => page.locator('.graphiql-tab');

/** All that outlives the tab. */
const storedIn = (page: Page) => page.evaluate('JSON.stringify({ ...localStorage })') as Promise<string>;

/** Opens GraphiQL as somebody who moves the mouse. */
async function open(page: Page, fragment = ''): Promise<void> {
  await page.goto(`${url}/graphql${fragment}`);
  await page.mouse.move(200, 300);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
}

async function openWithKey(page: Page): Promise<void> {
  await open(page, `#key=${key}`);
  await docs(page).getByRole('link', { name: 'Query' }).waitFor();
}

/** Puts headers into the header editor, in place of what it has. */
async function pasteHeaders(page: Page, headers: Record<string, string>): Promise<void> {
  await page.evaluate((text) => navigator.clipboard.writeText(text), JSON.stringify(headers));
  await page.locator('.graphiql-editor-tool').getByText('Authorization').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+V');
}

/** Runs the operation of a tab: the answer that came, once the response pane shows it. */
async function runTab(page: Page, title: string): Promise<string> {
  await page.getByRole('button', { name: title, exact: true }).click();
  await expect.poll(() => page.locator('.graphiql-query-editor .view-lines').textContent()).toContain(title);
  await page.waitForTimeout(300); // GraphiQL writes what changed into the active tab with a delay
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: /Execute query/ }).click();
  const { data } = await (await answered).json();
  const text = JSON.stringify(data ?? null); // what is shed has no data at all
  const [, name = ''] = /"name":"([^"]*)"/.exec(text) ?? [];
  await expect.poll(() => textOf(page.locator('.result-window .view-lines'))).toContain(name);
  return text;
}

/** The text in an editor, without its line breaks; Monaco draws spaces as U+00A0. */
async function textOf(editor: Locator): Promise<string> {
  return ((await editor.textContent()) ?? '').replaceAll(/[\s\u00a0]+/g, ' ');
}

const CLIPBOARD = ['clipboard-read', 'clipboard-write'];

/** What a button of the bar has copied. */
async function copied(page: Page, name: 'Copy as curl' | 'Copy link'): Promise<string> {
  await page.getByRole('button', { name }).click();
  await page.locator('.call-bar').getByText('was copied, without the key').waitFor();
  return (await page.evaluate('navigator.clipboard.readText()')) as string;
}

/** What a curl command prints that runs with the key. */
async function runInShell(curl: string): Promise<string> {
  const env = { PATH: process.env.PATH, PETSTORE_KEY: key };
  return (await promisify(execFile)('sh', ['-c', curl.replace('curl ', 'curl -s ')], { env })).stdout;
}

describeInBrowser('GraphiQL', (browser) => {
  describe('by the printed link', () => {
    test('the key is in place; it is in no address, no log and nothing that outlives the tab', async () => {
      const { page, foreign, complaints, requested } = await newVisit(browser(), url);
      await openWithKey(page);
      await form(page)
        .getByText(`Key ${key.slice(0, 13)}…`)
        .waitFor();
      expect(page.url()).toBe(`${url}/graphql`);
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      await expect.poll(() => page.locator('.graphiql-editor-tool').textContent()).toContain(key);
      await page.waitForTimeout(700); // GraphiQL stores its tabs with a delay
      await expect.poll(() => storedIn(page)).toContain(titles[0]);
      const stored = await storedIn(page);
      expect([stored, ...requested, JSON.stringify(gateway.logs)].filter((text) => text.includes(key))).toEqual([]);
      expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    });

    test('the tabs run one after another, and status, time and headers are shown', async () => {
      const { page, foreign, complaints } = await newVisit(browser(), url);
      await openWithKey(page);
      const answers: string[] = [];
      // Without data it was shed: a machine with much else to do is asked again.
      for (const title of titles) {
        let answer = 'null';
        for (let attempt = 0; attempt < 5 && answer === 'null'; attempt++) answer = await runTab(page, title);
        answers.push(answer);
      }
      expect(answers[0]).toContain('"name":"Bella');
      expect(answers[1]).not.toMatch(/"(?:SOLD|PENDING)"/);
      expect(answers[2]).toContain('"id":"6"');
      expect(answers[3]).toContain('"hasNextPage":true');
      expect(answers[4]).toContain('"id":"13"');
      expect(answers[5]).toContain('"id":"1"');
      expect(await page.locator('.call-bar [role=status]').textContent()).toMatch(/^200 OK · \d+ ms$/);
      await page.locator('.call-bar summary').click();
      expect(await page.locator('.call-bar pre').textContent()).toContain('x-request-id: ');
      expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    });

    test('in a page that is open already it replaces the key', async () => {
      const { page } = await newVisit(browser(), url);
      await open(page);
      await page.goto(`${url}/graphql#key=${key}`);
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      expect(page.url()).toBe(`${url}/graphql`);
    });

    test('a reload keeps the key and the tabs, the open one too, and adds none', async () => {
      const { page } = await newVisit(browser(), url);
      await openWithKey(page);
      await runTab(page, titles[2] ?? '');
      await expect.poll(() => storedIn(page)).toMatch(/\W+activeTabIndex\W+2\b/); // GraphiQL stores its tabs with a delay
      for (let reloads = 0; reloads < 2; reloads++) {
        await page.reload();
        await docs(page).getByRole('link', { name: 'Query' }).waitFor();
        expect(await tabs(page).allTextContents()).toEqual(titles);
        await expect.poll(() => page.locator('.graphiql-tab-active').textContent()).toBe(titles[2]);
      }
      await runTab(page, titles[2] ?? '');
    });
  });

  describe('without a key', () => {
    test('nothing is asked in vain, and nothing moves when the editor comes', async () => {
      const { page, foreign, complaints, requested } = await newVisit(browser(), url);
      await page.addInitScript(
        'window.shift = 0; new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shift += value; }).observe({ type: "layout-shift", buffered: true });',
      );
      await open(page);
      await form(page).getByText('Every call needs an API key.').waitFor();
      await expect.poll(() => page.locator('.graphiql-editor-tool').textContent()).toContain('Bearer');
      expect(requested.filter((address) => address === `${url}/graphql`)).toHaveLength(1);
      expect(await page.evaluate('shift')).toBeLessThan(0.05);
      expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    });

    test('a pasted "Bearer petstore_…" fills the documentation and serves a tab', async () => {
      const { page, complaints } = await newVisit(browser(), url);
      await open(page);
      await form(page).getByLabel('API key').fill(`Bearer ${key}`);
      await form(page).getByRole('button', { name: 'Use key' }).click();
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      await runTab(page, titles[1] ?? '');
      expect(complaints).toEqual([]);
    });

    test('a key typed into the header editor does so too', async () => {
      const { page } = await newVisit(browser(), url, { permissions: CLIPBOARD });
      await open(page);
      await pasteHeaders(page, { Authorization: `Bearer ${key}` });
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      await form(page).getByText('Key petstore_').waitFor();
      await runTab(page, titles[1] ?? '');
    });

    test('a forgotten key that is pasted there again serves again, once it is used', async () => {
      const { page } = await newVisit(browser(), url, { permissions: CLIPBOARD });
      await openWithKey(page);
      await form(page).getByRole('button', { name: 'forget' }).click();
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      await pasteHeaders(page, { Authorization: `Bearer ${key}` });
      await page.getByRole('button', { name: /Execute query/ }).click();
      await expect.poll(() => form(page).getAttribute('data-state')).toBe('accepted');
    });

    test.each([
      ['after the word Bearer', `Bearer ${key}`, 'Bearer <API key>'],
      ['by itself', key, '<API key>'],
    ])('a key that is pasted into the wrong editor, %s, does not outlive the tab', async (_how, pasted, kept) => {
      const { page } = await newVisit(browser(), url, { permissions: CLIPBOARD });
      await open(page);
      await page.evaluate(`navigator.clipboard.writeText('# ${pasted}')`);
      await page.locator('.graphiql-query-editor .view-line').first().click();
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Control+V');
      await expect.poll(() => storedIn(page)).toContain(`# ${kept}\\"`); // in the tab, which GraphiQL stores with a delay
      expect(await storedIn(page)).not.toContain(key);
    });
  });

  test('with the gateway away an answer is one sentence', async () => {
    const { page } = await newVisit(browser(), url);
    await openWithKey(page);
    await page.route('**/graphql', (route) => route.abort());
    await page.getByRole('button', { name: /Execute query/ }).click();
    await expect
      .poll(() => textOf(page.locator('.result-window .view-lines')))
      .toContain('The call could not be made: the gateway cannot be reached.');
    expect(await textOf(page.locator('.result-window .view-lines'))).not.toMatch(/ at |stack/);
  });

  test.each([
    ['value', { 'Idempotency-Key': '🐾' }, /call could not be made: .*ISO-8859-1/],
    ['value of two lines', { 'Idempotency-Key': 'a\nb' }, /call could not be made: .*Invalid value/],
    ['name', { 'Idempotency Key': 'a' }, /call could not be made: .*Invalid name/],
  ])('with a header whose %s no request can carry, it says so', async (_what, headers, message) => {
    const { page } = await newVisit(browser(), url, { permissions: CLIPBOARD });
    await openWithKey(page);
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await pasteHeaders(page, { Authorization: `Bearer ${key}`, ...(headers as Record<string, string>) });
    await page.getByRole('button', { name: /Execute query/ }).click();
    await expect.poll(() => textOf(page.locator('.result-window .view-lines'))).toMatch(message);
    expect(await page.locator('.call-bar [role=status]').textContent()).toMatch(message);
  });

  test.runIf(has('curl'))(
    'a call is copied as curl that runs, and as a link that opens it in a tab of its own; neither has the key',
    async () => {
      const { page } = await newVisit(browser(), url, { permissions: CLIPBOARD });
      await openWithKey(page);
      await runTab(page, titles[1] ?? '');
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      await pasteHeaders(page, { authorization: `Bearer ${key}` }); // a name of a header has no case
      const curl = await copied(page, 'Copy as curl');
      expect(await runInShell(curl)).toContain('"status":"AVAILABLE"');
      const link = await copied(page, 'Copy link');
      expect(curl + link).not.toContain(key);
      const other = (await newVisit(browser(), url)).page;
      await other.goto(link);
      await other.locator('.graphiql-query-editor .view-line').first().waitFor();
      expect(other.url()).toBe(`${url}/graphql`);
      await expect.poll(() => other.locator('.graphiql-tab-active').textContent()).toBe(titles[1]);
      await expect.poll(() => textOf(other.locator('.graphiql-editors'))).toContain('AVAILABLE');
    },
  );

  describe.runIf(has('curl'))(
    'of a document with two operations, comments in the variables and a name for every shell',
    () => {
      const name = `O'Brien's "cat" \\ $HOME \`id\` !! %s // \n`;
      const variables = `{ // "who" is it?\n  "input": {"name": ${JSON.stringify(name)}, "categoryId": 9007199254740993 /* long */,},\n}`;
      const query =
        '# query Neither { no }\nquery First { pets(limit: 1) { id } }\nmutation Second($input: NewPetInput!) {\n  addPet(input: $input) { name categoryId }\n}';
      const link = () => `${url}/graphql#${new URLSearchParams({ query, variables })}`;

      test('in a page that is open already, the one that was run is sent and copied, with every digit', async () => {
        const { page } = await newVisit(browser(), url, { permissions: CLIPBOARD });
        await openWithKey(page);
        await page.goto(link()); // to the same document: only the fragment changes
        await expect.poll(() => textOf(page.locator('.graphiql-query-editor .view-lines'))).toContain('query First');
        await page.getByRole('button', { name: /Execute query/ }).click();
        const answered = page.waitForResponse((response) => response.request().method() === 'POST');
        await page.getByRole('menuitem', { name: 'Second' }).click();
        const answer = await (await answered).json();
        expect(answer).toEqual({ data: { addPet: { name, categoryId: '9007199254740993' } } });
        expect(JSON.parse(await runInShell(await copied(page, 'Copy as curl')))).toEqual(answer);
      });

      test('before any run the first one is copied; without a clipboard it is shown', async () => {
        const { page } = await newVisit(browser(), url);
        await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })'); // as on plain http
        await page.goto(link());
        await page.locator('.graphiql-query-editor .view-line').first().waitFor();
        await page.getByRole('button', { name: 'Copy as curl' }).click();
        await page.locator('#copy-by-hand').waitFor();
        const shown = await page.locator('#copy-shown').inputValue();
        expect(JSON.parse(await runInShell(shown))).toEqual({ data: { pets: [{ id: '1' }] } });
      });
    },
  );

  test('at 390 px editor and answer are below each other, as wide as the page; from 390 to 1440 px the title stays', async () => {
    const { page } = await newVisit(browser(), url, { viewport: { width: 390, height: 844 } });
    await open(page, `#key=${key}`);
    await form(page).getByText('Key petstore_').waitFor();
    for (const pane of ['.graphiql-editors', '.graphiql-response']) {
      expect((await page.locator(pane).boundingBox())?.width).toBeGreaterThan(340);
    }
    for (const width of [390, 768, 1024, 1440]) {
      await page.setViewportSize({ width, height: 844 });
      const box = await page.locator('.graphiql-logo').boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 9999)).toBeLessThanOrEqual(width);
      expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(width);
    }
  });

  test('its dialogs have their crosses, its icons no made-up names', async () => {
    const { page } = await newVisit(browser(), url);
    await openWithKey(page);
    await page.getByRole('button', { name: 'Open settings dialog' }).click();
    const cross = page.locator('.graphiql-dialog-close svg');
    await cross.waitFor();
    expect((await cross.boundingBox())?.width).toBeGreaterThan(30);
    expect(await page.locator('#graphiql svg > title').count()).toBe(0);
  });
});
