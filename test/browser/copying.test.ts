import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const { url, port, key } = await startGateway(SQLITE);
/** The same server, at a name that browsers do not trust: pages on plain http have no clipboard there. */
const untrusted = `http://0.0.0.0:${port}`;

/** Each page with buttons that copy, how one is found, and what its text has. */
const PAGES = [
  { path: '/docs', name: 'Copy', within: '#listPets', text: '/v1/pets?limit=20' },
  { path: '/docs', name: 'Copy', within: '#paging', text: 'rel="next"' },
  { path: '/graphql', name: 'Copy link', within: '.call-bar', text: '/graphql#query=' },
];

const copyByHand = (page: Page) => page.locator('#copy-by-hand');

describeInBrowser('copying', (browser) => {
  const press = async (origin: string, { path, name, within }: (typeof PAGES)[number], permissions: string[] = []) => {
    const { page } = await newVisit(browser(), origin, { permissions });
    await page.goto(`${origin}${path}#key=${key}`);
    if (path === '/graphql') await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    await page.locator(within).getByRole('button', { name }).click();
    return page;
  };

  describe.each(PAGES)('on $path, in $within', (place) => {
    test('says so, with a tick and to screen readers, when it was done', async () => {
      const page = await press(url, place, ['clipboard-read', 'clipboard-write']);
      await page.locator(place.within).getByRole('status').getByText('✓').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain(place.text);
      expect(await copyByHand(page).isVisible()).toBe(false);
    });

    test.each([
      ['on plain http', untrusted],
      ['where the browser refuses', url],
    ])('%s shows the text, selected, and says nothing else', async (_where, origin) => {
      const page = await press(origin, place);
      await copyByHand(page).waitFor();
      expect(await page.evaluate('isSecureContext')).toBe(origin === url);
      expect(await copyByHand(page).getByRole('textbox').inputValue()).toContain(place.text);
      expect(await page.evaluate('getSelection().toString()')).toContain(place.text);
      expect(await page.locator('main, .call-bar').getByText('✓').count()).toBe(0);
      await copyByHand(page).getByRole('button', { name: 'Close' }).click();
      expect(await copyByHand(page).isVisible()).toBe(false);
    });
  });

  test('of another sample, or a change, takes the tick away', async () => {
    const page = await press(url, { path: '/docs', name: 'Copy', within: '#listPets', text: '' }, ['clipboard-write']);
    const ticks = page.locator('main').getByText('✓ Copied');
    await ticks.waitFor();
    await page.locator('#getPet').getByRole('button', { name: 'Copy' }).click();
    await page.locator('#getPet').getByText('✓ Copied').waitFor();
    expect(await ticks.count()).toBe(1);
    await page.locator('#getPet').getByLabel('petId').fill('2');
    expect(await ticks.count()).toBe(0);
  });
});
