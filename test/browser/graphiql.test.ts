import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { TABS } from '../../src/pages/graphiql-tabs.ts';
import { samplePet } from '../../src/pets/sample-pets.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const gateway = await startGateway(ENGINES[0] as TestEngine);
await gateway.pets.addPets(Array.from({ length: 12 }, (_, index) => samplePet(index)));
const { url, key } = gateway;

const titles = TABS.map(({ query }) => /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '');
const bar = (page: Page) => page.locator('#key-bar');
const docs = (page: Page) => page.locator('.graphiql-plugin');

/** A busy machine takes its time. */
const poll = (read: () => Promise<string | null>) => expect.poll(read, { timeout: 15_000 });

/** Runs the operation of a tab: the answer that came, once the response pane shows it. */
async function runTab(page: Page, title: string): Promise<string> {
  await page.getByRole('tab', { name: title }).click();
  await poll(() => page.locator('.graphiql-query-editor .view-lines').textContent()).toContain(title);
  await page.waitForTimeout(300); // GraphiQL writes what changed into the active tab with a delay
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: /Execute query/ }).click();
  const { data } = await (await answered).json();
  const [shown] = [Object.values(data)[0]].flat() as { name: string }[];
  await poll(() => textOf(page.locator('.result-window .view-lines'))).toContain(shown?.name);
  return JSON.stringify(data);
}

/** The text in an editor; Monaco draws spaces as U+00A0. */
async function textOf(editor: Locator): Promise<string> {
  return ((await editor.textContent()) ?? '').replaceAll('\u00a0', ' ');
}

async function storedText(page: Page): Promise<string> {
  return page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
}

describeInBrowser('GraphiQL', (browser) => {
  describe('by the printed link', () => {
    test('the key is in place and the documentation is there; the key is in no address, no log and no storage', async () => {
      const { page, foreign, complaints, requested } = await newVisit(browser(), url);
      await page.goto(`${url}/graphql#key=${key}`);
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      expect(await bar(page).isVisible()).toBe(false);
      expect(page.url()).toBe(`${url}/graphql`);
      await page.getByRole('button', { name: 'Headers' }).click();
      await poll(() => page.locator('.graphiql-editor-tool').textContent()).toContain(key);
      await page.waitForTimeout(700); // GraphiQL stores its tabs with a delay
      const stored = await storedText(page);
      expect(stored).toContain(titles[0]);
      expect([stored, ...requested, JSON.stringify(gateway.logs)].filter((text) => text.includes(key))).toEqual([]);
      expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    });

    test('the tabs run one after another', async () => {
      const { page, foreign, complaints } = await newVisit(browser(), url);
      await page.goto(`${url}/graphql#key=${key}`);
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      const answers = [];
      for (const title of titles) answers.push(await runTab(page, title));
      expect(answers[0]).toContain('"name":"Bella');
      expect(answers[1]).not.toMatch(/"(?:SOLD|PENDING)"/);
      expect(answers[2]).toContain('"id":"6"');
      expect(answers[3]).toContain('"id":"13"');
      expect(answers[4]).toContain('"id":"1"');
      expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    });

    test('in a page that is open already it replaces the key', async () => {
      const { page } = await newVisit(browser(), url);
      await page.goto(`${url}/graphql`);
      await bar(page).waitFor();
      await page.goto(`${url}/graphql#key=${key}`);
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      expect(page.url()).toBe(`${url}/graphql`);
    });
  });

  describe('without a key', () => {
    test('a hint says so, and nothing is asked in vain', async () => {
      const { page, foreign, complaints, requested } = await newVisit(browser(), url);
      await page.goto(`${url}/graphql`);
      await bar(page).getByText('An API key is needed.').waitFor();
      await poll(() => page.locator('.graphiql-editor-tool').textContent()).toContain('Bearer');
      expect(requested.filter((address) => address === `${url}/graphql`)).toHaveLength(1);
      expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
    });

    test('a key pasted above fills the documentation and serves every tab', async () => {
      const { page, complaints } = await newVisit(browser(), url);
      await page.goto(`${url}/graphql`);
      await bar(page).getByLabel('API key', { exact: true }).fill(key);
      await bar(page).getByRole('button').click();
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      expect(await bar(page).isVisible()).toBe(false);
      for (const title of titles) await runTab(page, title);
      expect(complaints).toEqual([]);
    });

    test('a key typed into the header editor does so too', async () => {
      const { page } = await newVisit(browser(), url, { permissions: ['clipboard-read', 'clipboard-write'] });
      await page.goto(`${url}/graphql`);
      await bar(page).waitFor();
      await page.evaluate(`navigator.clipboard.writeText('{"Authorization": "Bearer ${key}"}')`);
      await page.locator('.graphiql-editor-tool').getByText('Authorization').click();
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Control+V');
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      expect(await bar(page).isVisible()).toBe(false);
      await runTab(page, titles[1] ?? '');
    });

    test('a key that is refused is called so, and a good one heals it', async () => {
      const { page } = await newVisit(browser(), url);
      await page.goto(`${url}/graphql#key=petstore_wrong`);
      await bar(page).getByText('This key was refused:').waitFor();
      await bar(page).getByLabel('API key', { exact: true }).fill(key);
      await bar(page).getByRole('button').click();
      await docs(page).getByRole('link', { name: 'Query' }).waitFor();
      await runTab(page, titles[2] ?? '');
    });
  });

  test('after a reload the key is gone, unless its owner chose to keep it in this tab', async () => {
    const { page } = await newVisit(browser(), url);
    await page.goto(`${url}/graphql#key=${key}`);
    await docs(page).getByRole('link', { name: 'Query' }).waitFor();
    await page.reload();
    await bar(page).getByLabel('API key', { exact: true }).fill(key);
    await bar(page).getByLabel('Keep it until this tab is closed').check();
    await bar(page).getByRole('button').click();
    await docs(page).getByRole('link', { name: 'Query' }).waitFor();
    await page.reload();
    await docs(page).getByRole('link', { name: 'Query' }).waitFor();
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(key);
  });
});
