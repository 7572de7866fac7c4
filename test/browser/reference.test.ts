import { execFile } from 'node:child_process';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { samplePet } from '../../src/pets/sample-pets.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const gateway = await startGateway(ENGINES[0] as TestEngine);
await gateway.pets.addPets(Array.from({ length: 12 }, (_, index) => samplePet(index)));
const { url, key } = gateway;

const bar = (page: Page) => page.locator('#key-bar');

async function pasteKey(page: Page, text: string): Promise<void> {
  await bar(page).getByLabel('API key', { exact: true }).fill(text);
  await bar(page).getByRole('button').click();
}

/** Opens an operation and gives the part of the page that shows it. */
async function openOperation(page: Page, operationId: string) {
  const operation = page.locator(`#operations-pets-${operationId}`);
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.execute').waitFor();
  return operation;
}

describeInBrowser('the REST reference', (browser) => {
  const open = async (options = {}) => {
    const visit = await newVisit(browser(), url, options);
    await visit.page.goto(`${url}/docs`);
    await visit.page.locator('#operations-pets-listPets').waitFor();
    return visit;
  };

  test('it shows the operations, and says that a key is needed', async () => {
    const { page, foreign, complaints } = await open();
    expect(await page.locator('.opblock').count()).toBe(3);
    await bar(page).getByText('An API key is needed.').waitFor();
    expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
  });

  test('a pasted key serves "Execute", and is stored nowhere', async () => {
    const { page, foreign, complaints, requested } = await open();
    await pasteKey(page, key);
    await bar(page).waitFor({ state: 'hidden' });
    const operation = await openOperation(page, 'listPets');
    await operation.getByRole('combobox').first().selectOption('sold');
    await operation.locator('.execute').click();
    const body = operation.locator('.live-responses-table .response-col_description').last();
    await body.getByText('Nemo the Clownfish').waitFor();
    expect(await body.textContent()).not.toContain('Bella');
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect([stored as string, ...requested].filter((text) => text.includes(key))).toEqual([]);
    expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
  });

  test('a category of 9223372036854775807 goes in and comes out digit for digit', async () => {
    const { page } = await open();
    await pasteKey(page, key);
    const operation = await openOperation(page, 'createPet');
    await operation.locator('.body-param__text').fill('{"name": "Rex", "categoryId": 9223372036854775807}');
    await operation.locator('.execute').click();
    const body = operation.locator('.live-responses-table .response-col_description').last();
    await body.getByText('9223372036854775807').waitFor();
    const { text } = await gateway.request('/v1/pets?after=12');
    expect(text).toContain('"categoryId":9223372036854775807');
  });

  test('a key that is refused is called so', async () => {
    const { page } = await open();
    await pasteKey(page, 'petstore_wrong');
    await bar(page).getByText('This key was refused:').waitFor();
    await pasteKey(page, key);
    await bar(page).waitFor({ state: 'hidden' });
  });

  test('the deprecated operation shows its sunset and its replacement', async () => {
    const { page } = await open();
    const operation = await openOperation(page, 'getPet');
    expect(await operation.locator('.badge').textContent()).toBe('deprecated · removal 5 December 2030');
    expect(await operation.locator('.notice').textContent()).toBe(
      'Deprecated. Removal is scheduled for 5 December 2030; use GET /v1/pets with a status filter instead.',
    );
    expect(await page.locator('.badge').count()).toBe(1);
  });

  test.each(['experimental', 'beta'])('x-stability: %s is shown as a badge', async (stability) => {
    const { page } = await newVisit(browser(), url);
    const document = await (await fetch(`${url}/v1/openapi.json`)).json();
    document.paths['/pets'].post['x-stability'] = stability;
    await page.route('**/v1/openapi.json', (route) => route.fulfill({ json: document }));
    await page.goto(`${url}/docs`);
    expect(await page.locator('#operations-pets-createPet .badge').textContent()).toBe(stability);
  });

  describe('the code samples', () => {
    test.each(['listPets', 'createPet', 'getPet'])(
      'of %s run as they are shown, with a key put in',
      async (operationId) => {
        const { page } = await open();
        const operation = await openOperation(page, operationId);
        const sample = async (language: string) => {
          await operation.locator('.code-samples').getByRole('button', { name: language }).click();
          return ((await operation.locator('.code-samples pre').textContent()) ?? '').replace('YOUR_API_KEY', key);
        };
        const curl = await sample('curl');
        const javascript = await sample('JavaScript');
        const [fromCurl, fromJavascript] = await Promise.all([
          runAside('sh', ['-c', curl.replace('curl ', 'curl -s ')]),
          runAside(process.execPath, ['--input-type=module', '-e', javascript]),
        ]);
        expect(fromCurl).toMatch(/"name":/);
        expect(fromJavascript).toMatch(/name: /);
      },
    );
  });

  test('it is dark where the visitor prefers that', async () => {
    const { page } = await open({ colorScheme: 'dark' });
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe('rgb(16, 22, 29)');
  });
});

/** Runs a program without stopping this process, which serves it. */
async function runAside(program: string, args: string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(program, args, (error, stdout, stderr) => (error ? reject(new Error(stderr)) : resolve(stdout)));
  return promise;
}
