import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { samplePet } from '../../src/petstore/pets/sample-pets.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const { url, key, pets } = await startGateway(ENGINES[0] as TestEngine);
await pets.addAll(Array.from({ length: 3 }, (_, index) => samplePet(index)));

const COLOURS = [
  { colours: 'light', colorScheme: 'light', forcedColors: 'none' },
  { colours: 'dark', colorScheme: 'dark', forcedColors: 'none' },
  { colours: 'forced', colorScheme: 'light', forcedColors: 'active' },
] as const;

/** What of the header is not within its edges. */
const CUT = `(() => {
  const header = document.querySelector('.site-header');
  const { top, bottom } = header.getBoundingClientRect();
  const shown = [...header.querySelectorAll('a, p, input, button')].filter(({ clientWidth }) => clientWidth > 1);
  const boxes = shown.map((element) => ({ element, box: element.getBoundingClientRect() }));
  return boxes.filter(({ box }) => box.top < top || box.bottom > bottom).map(({ element }) => element.outerHTML);
})()`;

/** What axe finds, as `rule: where`. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source); // by the debugger: no policy of the page is in its way
  const { violations: found } = await page.evaluate<AxeResults>('axe.run()');
  return found.flatMap(({ id, impact, nodes }) => nodes.map(({ target }) => `${impact} ${id}: ${target}`));
}

describeInBrowser('accessibility', (browser) => {
  describe.each(COLOURS)('in $colours colours', ({ colorScheme, forcedColors }) => {
    const visit = (width: number) =>
      newVisit(browser(), url, { colorScheme, forcedColors, viewport: { width, height: 900 } });

    test.each([320, 390, 768, 1440, 2560])(
      'the landing page and the reference have no fault at %d px',
      async (width) => {
        const { page } = await visit(width);
        await page.goto(url);
        expect(await violations(page)).toEqual([]);
        await page.goto(`${url}/docs#key=${key}`);
        await page.locator('#listPets').getByRole('button', { name: 'Send' }).click();
        await page.locator('#listPets .outcome').getByText('200').waitFor();
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(width);
      },
    );

    test.each([320, 720, 1440, 2560])('GraphiQL has none at %d px, without a key and with an answer', async (width) => {
      const { page } = await visit(width);
      await page.goto(`${url}/graphql`);
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate(CUT)).toEqual([]);
      await page.mouse.move(100, 300);
      await page.locator('.graphiql-container .view-line').first().waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('API key').fill(key);
      await page.keyboard.press('Enter');
      await page.locator('#key-form').getByText('Key petstore_').waitFor();
      if (width > 1000) await page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).waitFor();
      await page.getByRole('button', { name: /Execute query/ }).click();
      await page.locator('.result-window').getByText('Bella').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate(CUT)).toEqual([]);
    });
  });
});
