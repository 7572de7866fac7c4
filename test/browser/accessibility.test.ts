import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { samplePet } from '../../src/petstore/pets/sample-pets.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const { url, key, pets } = await startGateway(ENGINES[0] as TestEngine);
await pets.addAll(Array.from({ length: 3 }, (_, index) => samplePet(index)));

const SCHEMES = ['light', 'dark'] as const;

/** What axe finds, as `rule: where`. */
async function violations(page: Page, context: unknown = {}): Promise<string[]> {
  await page.evaluate(axe.source); // by the debugger: no policy of the page is in its way
  const { violations: found } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify({ include: ['html'], ...(context as object) })})`,
  );
  return found.flatMap(({ id, impact, nodes }) => nodes.map(({ target }) => `${impact} ${id}: ${target}`));
}

describeInBrowser('accessibility', (browser) => {
  describe.each(SCHEMES)('in %s colours', (colorScheme) => {
    test.each([390, 768, 1440])('the landing page and the reference have no fault at %d px', async (width) => {
      const { page } = await newVisit(browser(), url, { colorScheme, viewport: { width, height: 900 } });
      await page.goto(url);
      expect(await violations(page)).toEqual([]);
      await page.goto(`${url}/docs#key=${key}`);
      await page.locator('#listPets').getByRole('button', { name: 'Send' }).click();
      await page.locator('#listPets .outcome').getByText('200').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(width);
    });

    test.each([390, 1440])('GraphiQL has no serious fault at %d px, with and without a key', async (width) => {
      const { page } = await newVisit(browser(), url, { colorScheme, viewport: { width, height: 900 } });
      const seriousFaults = async () => {
        // A tab with its button to close inside is GraphiQL's own.
        const found = await violations(page, { exclude: [['[role=tablist]'], ['.graphiql-tabs']] });
        return found.filter((fault) => /^(?:critical|serious)/.test(fault));
      };
      await page.goto(`${url}/graphql`);
      expect(await seriousFaults()).toEqual([]);
      await page.mouse.move(100, 300);
      await page.locator('.graphiql-container .view-line').first().waitFor();
      expect(await seriousFaults()).toEqual([]);
      await page.getByLabel('API key').fill(key);
      await page.keyboard.press('Enter');
      await page.locator('#key-form').getByText('Key petstore_').waitFor();
      if (width > 1000) await page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).waitFor();
      expect(await seriousFaults()).toEqual([]);
    });
  });
});
