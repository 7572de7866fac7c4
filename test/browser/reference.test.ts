import { execFile } from 'node:child_process';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { samplePet } from '../../src/petstore/pets/pet.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { openApiDocument } from '../support/petstore-api.ts';
import { has, type Tool } from '../support/tools.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const gateway = await startGateway(SQLITE);
await gateway.pets.addAll(Array.from({ length: 12 }, (_, index) => samplePet(index)));
const { url, key } = gateway;
const document = openApiDocument(url) as any;
const operations: any[] = Object.values(document.paths).flatMap((methods) => Object.values(methods as object));
const operationIds: string[] = operations.map(({ operationId }) => operationId);

const form = (page: Page) => page.locator('#key-form');
const operationOf = (page: Page, id: string) => page.locator(`#${id}`);

async function pasteKey(page: Page, text: string): Promise<void> {
  await form(page).getByLabel('API key').fill(text);
  await form(page).getByRole('button', { name: 'Use key' }).click();
}

/** Sends an operation and gives what the page then shows of the call. */
async function send(page: Page, id: string) {
  const answered = page.waitForResponse((response) => response.url().includes('/v1/'));
  await operationOf(page, id).getByRole('button', { name: 'Send' }).click();
  await answered;
  await operationOf(page, id)
    .locator('.outcome')
    .getByText(/^\d{3}/)
    .waitFor();
  return shownCall(page, id);
}

/** What of an element is seen, in the window and in all that scrolls around it. */
const seenOf = (element: Locator) =>
  element.evaluate((node) =>
    new Promise<IntersectionObserverEntry>((resolve) => {
      new IntersectionObserver(([entry]) => entry && resolve(entry)).observe(node);
    }).then(({ intersectionRatio, intersectionRect }) => ({
      part: intersectionRatio,
      height: intersectionRect.height,
    })),
  );

const focusedText = (page: Page) => page.evaluate('document.activeElement.textContent');

async function shownCall(page: Page, id: string) {
  const [sent = '', outcome = '', received = ''] = await Promise.all(
    ['.sent', '.outcome', '.received'].map((part) => operationOf(page, id).locator(part).textContent()),
  ).then((texts) => texts.map((text) => text ?? ''));
  return { sent, outcome, received };
}

describeInBrowser('the reference', (browser) => {
  const open = async (options = {}, path = '/docs') => {
    const visit = await newVisit(browser(), url, options);
    await visit.page.goto(url + path);
    return visit;
  };

  const openWithKey = async (options = {}) => {
    const visit = await open(options, `/docs#key=${key}`);
    await form(visit.page).getByText('Key petstore_').waitFor();
    return visit;
  };

  describe('as it is read', () => {
    test('without scripts it has every operation, parameter with its bounds, status and guide', async () => {
      const { page, foreign, complaints } = await open({ javaScriptEnabled: false });
      const text = await page.locator('main').textContent();
      for (const { operationId, parameters, responses } of operations) {
        const section = await operationOf(page, operationId).textContent();
        for (const { name } of parameters) expect(section).toContain(name);
        for (const status of Object.keys(responses)) expect(section).toContain(status);
        expect(await page.locator(`.contents a[href="#${operationId}"]`).count()).toBe(1);
      }
      expect(text).toContain('/v1/pets/{petId}');
      expect(await operationOf(page, 'listPets').textContent()).toContain('1 to 100 · default 20');
      expect(await page.locator('main').count()).toBe(1);
      expect(await form(page).isVisible()).toBe(false);
      expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0);
      expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    });

    test('a deprecated operation says until when it stays, and what to use instead', async () => {
      const { page } = await open();
      for (const { operationId, deprecated } of operations) {
        expect(await operationOf(page, operationId).locator('.notice').count()).toBe(deprecated ? 1 : 0);
      }
      expect(await operationOf(page, 'getPet').locator('h2').textContent()).toContain(
        'deprecated · removal 5 December 2030',
      );
      expect(await operationOf(page, 'getPet').locator('.notice').textContent()).toContain(
        'GET /v1/pets with a status',
      );
    });

    test('on paper there are no fields and no buttons, and nothing is cut', async () => {
      const { page } = await open();
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByRole('button').count()).toBe(0);
      expect(await page.locator('#listPets-limit').isVisible()).toBe(false);
      expect(await page.locator('#listPets pre').first().isVisible()).toBe(true);
    });
  });

  describe('the key', () => {
    test('pasted with the words around it serves all operations, survives a reload, and is shown by its prefix', async () => {
      const { page, complaints, requested } = await open();
      await pasteKey(page, `Authorization: Bearer ${key}`);
      await form(page)
        .getByText(`Key ${key.slice(0, 13)}…`)
        .waitFor();
      expect((await send(page, 'listPets')).outcome).toMatch(/^200 OK · \d+ ms$/);
      await page.reload();
      expect((await send(page, 'getPet')).outcome).toMatch(/^200/);
      expect(await page.locator('body').textContent()).not.toContain(key);
      expect(requested.filter((address) => address.includes(key))).toEqual([]);
      expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(key);
      expect(complaints).toEqual([]);
    });
  });

  describe('a call', () => {
    test('with a wrong limit is sent as typed, and the refusal is shown', async () => {
      const { page, requested } = await openWithKey();
      for (const limit of ['0', '101', 'ten', '1.5']) {
        await operationOf(page, 'listPets').getByLabel('limit').fill(limit);
        const { sent, outcome, received } = await send(page, 'listPets');
        expect(requested.at(-1)).toBe(`${url}/v1/pets?limit=${limit}`);
        expect(sent).toContain(`GET ${url}/v1/pets?limit=${limit}`);
        expect(outcome).toMatch(/^400/);
        expect(received).toContain('"code": "bad_request"');
        expect(received).toContain('x-request-id: ');
      }
    });

    test('a category of 9223372036854775807 goes in and comes out digit for digit', async () => {
      const { page } = await openWithKey();
      const body = operationOf(page, 'createPet').getByLabel('Body, sent as typed');
      await body.fill('{"name": "Rex {,}", "categoryId": 9223372036854775807}');
      const { outcome, received } = await send(page, 'createPet');
      expect(outcome).toMatch(/^201/);
      expect(received).toContain('"categoryId": 9223372036854775807');
      expect(received).toContain('"name": "Rex {,}"');
    });

    test('shows its answer at once on a laptop, and the end of it by the wheel', async () => {
      const { page } = await openWithKey({ viewport: { width: 1280, height: 720 } });
      await send(page, 'createPet');
      const side = operationOf(page, 'createPet').locator('.side');
      const [outcome, received] = ['.outcome', '.received'].map((part) => side.locator(part)) as [Locator, Locator];
      expect((await seenOf(outcome)).part).toBeCloseTo(1);
      expect((await seenOf(received)).height).toBeGreaterThan(150);
      const { x = 0, y = 0 } = (await side.boundingBox()) ?? {};
      await page.mouse.move(x + 8, y + 8);
      await page.mouse.wheel(0, 3000);
      await expect.poll(async () => (await seenOf(received)).part).toBeCloseTo(1);
    });

    test('with an Idempotency-Key that no header can carry says so', async () => {
      const { page } = await openWithKey();
      await operationOf(page, 'createPet').getByLabel('Idempotency-Key').fill('schlüssel-🐾');
      await operationOf(page, 'createPet').getByRole('button', { name: 'Send' }).click();
      await operationOf(page, 'createPet').getByText('The call could not be made').waitFor();
      expect((await shownCall(page, 'createPet')).outcome).toMatch(/^The call could not be made: .*header/i);
    });

    test('a parameter with few words offers them, and nothing at first', async () => {
      const { page } = await open({}, `/docs#key=${key}`);
      const status = operationOf(page, 'listPets').getByLabel('status');
      expect(await status.locator('option').allTextContents()).toEqual(['not sent', 'available', 'pending', 'sold']);
      expect((await send(page, 'listPets')).sent).not.toContain('status');
      await status.selectOption('pending');
      expect((await send(page, 'listPets')).sent).toContain('status=pending');
      await status.selectOption('not sent');
      expect((await send(page, 'listPets')).sent).not.toContain('status');
    });

    test('"Next page" leads through the list to its end, and keeps the focus', async () => {
      const { page } = await openWithKey();
      await operationOf(page, 'listPets').getByLabel('limit').fill('1');
      await operationOf(page, 'listPets').getByLabel('status').selectOption('available');
      const seen = [(await send(page, 'listPets')).received];
      const next = operationOf(page, 'listPets').getByRole('button', { name: 'Next page' });
      const focused: unknown[] = [];
      await next.focus();
      while (await next.isVisible()) {
        const answered = page.waitForResponse((response) => response.url().includes('/v1/'));
        await page.keyboard.press('Enter');
        await answered;
        await operationOf(page, 'listPets').locator('.outcome').getByText(/^\d/).waitFor();
        focused.push(await focusedText(page));
        seen.push((await shownCall(page, 'listPets')).received);
      }
      const available = JSON.parse((await gateway.request('/v1/pets?status=available&limit=100')).text);
      const ids = seen.flatMap((text) => [...text.matchAll(/"id": (\d+)/g)].map(([, id]) => Number(id)));
      expect(ids).toEqual(available.map(({ id }: any) => id));
      expect(ids.length).toBeGreaterThan(2);
      expect(focused).toEqual([...ids.slice(2).map(() => 'Next page'), 'Answer']);
    });

    test('is made once, however often "Send" is pressed meanwhile', async () => {
      const { page, requested } = await openWithKey();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route('**/v1/pets', (route) => released.then(() => route.continue()));
      const creates = () => requested.filter((address) => address === `${url}/v1/pets`).length;
      const button = operationOf(page, 'createPet').getByRole('button', { name: 'Send' });
      await button.click();
      await button.click({ force: true });
      await operationOf(page, 'createPet').getByLabel('Idempotency-Key').press('Enter');
      release();
      await operationOf(page, 'createPet').getByText('201 Created').waitFor();
      expect(creates()).toBe(1);
      expect((await send(page, 'createPet')).outcome).toMatch(/^201/);
      expect(creates()).toBe(2);
    });

    test('a next page at another address gets no key: only its query is used', async () => {
      const { page, foreign } = await openWithKey();
      const headers = { link: '<https://elsewhere.example/v1/pets?limit=1&after=3>; rel="next"' };
      await page.route('**/v1/pets?limit=20', (route) => route.fulfill({ json: [], headers }));
      await send(page, 'listPets');
      const answered = page.waitForResponse((response) => response.url().includes('after=3'));
      await operationOf(page, 'listPets').getByRole('button', { name: 'Next page' }).click();
      expect((await answered).url()).toBe(`${url}/v1/pets?limit=1&after=3`);
      expect(foreign).toEqual([]);
    });

    test.each(['Send', 'Next page'])('by "%s" while the gateway is away says so in a sentence', async (name) => {
      const { page } = await openWithKey();
      await operationOf(page, 'listPets').getByLabel('limit').fill('1');
      await send(page, 'listPets');
      await page.route('**/v1/**', (route) => route.abort());
      await operationOf(page, 'listPets').getByRole('button', { name }).click();
      await operationOf(page, 'listPets').getByText('the gateway cannot be reached').waitFor();
      expect((await shownCall(page, 'listPets')).outcome).toBe(
        'The call could not be made: the gateway cannot be reached.',
      );
      expect(await operationOf(page, 'listPets').locator('.next').isVisible()).toBe(false);
      expect(await focusedText(page)).toBe(name === 'Send' ? 'Send' : 'Answer');
    });

    test('is made by keyboard alone', async () => {
      const { page } = await openWithKey();
      await operationOf(page, 'listPets').getByLabel('limit').focus();
      await page.keyboard.press('Control+A');
      await page.keyboard.type('2');
      await page.keyboard.press('Enter');
      await operationOf(page, 'listPets').getByText('200 OK').waitFor();
      expect((await shownCall(page, 'listPets')).sent).toContain('?limit=2');
    });

    test('is made in browsers without String.prototype.toWellFormed: before Firefox 119, Safari 16.4', async () => {
      const { page } = await openWithKey();
      await page.addInitScript('delete String.prototype.toWellFormed');
      await page.reload();
      expect((await send(page, 'getPet')).outcome).toMatch(/^200/);
    });
  });

  describe('the samples', () => {
    const programs: Record<string, (code: string) => Promise<string>> = {
      curl: (code) => run('sh', ['-c', code.replace('curl ', 'curl -s ')]),
      JavaScript: (code) => run(process.execPath, ['--input-type=module', '-e', code]),
      Python: (code) => run('python3', ['-c', code]),
    };

    test('follow the fields, without the key, and run exactly for 64 bits', async () => {
      const { page } = await openWithKey();
      const operation = operationOf(page, 'createPet');
      await operation
        .getByLabel('Body, sent as typed')
        .fill(`{"name": "O'Malley \\\\ \\"Rex\\"", "categoryId": 9007199254740993}`);
      for (const [language, program] of Object.entries(programs)) {
        await operation.getByLabel(language).check();
        const shown = operation.locator(`[data-language=${language}]`);
        expect(await operation.locator('[data-language]').filter({ visible: true }).count()).toBe(1);
        const code = (await shown.textContent()) ?? '';
        expect(code).not.toContain(key);
        if (!canRun(language)) continue;
        const printed = await program(code);
        expect(`${language}: ${printed}`).toContain('9007199254740993');
        expect(`${language}: ${printed}`).toContain('Malley');
      }
    });

    test.each(operationIds)('of %s run', async (id) => {
      const { page } = await open();
      const javascript = (await operationOf(page, id).locator('[data-language=JavaScript]').textContent()) ?? '';
      expect(await programs.JavaScript?.(javascript)).toMatch(/id: \d+n/);
    });

    test('stay in the language that was chosen', async () => {
      const { page } = await open();
      await operationOf(page, 'listPets').getByLabel('Python').check();
      await page.reload();
      expect(await operationOf(page, 'getPet').locator('[data-language=Python]').isVisible()).toBe(true);
    });
  });
});

const TOOLS: Readonly<Record<string, Tool>> = { curl: 'curl', Python: 'python' };

/** Whether this machine has what a language needs. */
const canRun = (language: string) => TOOLS[language] === undefined || has(TOOLS[language]);

/** Runs a program without stopping this process, which serves it. */
async function run(program: string, args: string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const env = { PATH: process.env.PATH, PETSTORE_KEY: key };
  execFile(program, args, { env, timeout: 20_000 }, (error, stdout, stderr) =>
    error ? reject(new Error(stderr)) : resolve(stdout),
  );
  return promise;
}
