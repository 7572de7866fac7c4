import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { samplePet } from '../../src/petstore/pets/pet.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const { url, key, pets } = await startGateway(SQLITE);
await pets.addAll(Array.from({ length: 3 }, (_, index) => samplePet(index)));

const COLOURS = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  forced: { colorScheme: 'light', forcedColors: 'active' },
} as const;

/** Of what is within a node, or behind it: https://dom.spec.whatwg.org/#interface-node */
const FOLLOWING = 4;

type Colours = keyof typeof COLOURS;

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

/** What it finds in each of the colours, one after another: pages whose colours are style sheets alone follow at once. */
async function violationsInAllColours(page: Page): Promise<string[]> {
  const told: string[] = [];
  for (const [colours, media] of Object.entries(COLOURS)) {
    await page.emulateMedia(media);
    told.push(...(await violations(page)).map((each) => `in ${colours} colours ${each}`));
  }
  return told;
}

describeInBrowser('accessibility', (browser) => {
  const visit = (width: number, colours: Colours) =>
    newVisit(browser(), url, { ...COLOURS[colours], viewport: { width, height: 900 } });

  test.each([320, 390, 768, 1440, 2560])(
    'the landing page and the reference have no fault at %d px, in light, dark and forced colours',
    async (width) => {
      const { page } = await visit(width, 'light');
      await page.goto(url);
      expect(await violationsInAllColours(page)).toEqual([]);
      expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(width);
      await page.emulateMedia(COLOURS.dark);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(16, 22, 29)');
      await page.goto(`${url}/docs#key=${key}`);
      for (const id of ['listPets', 'createPet']) {
        await page.locator(`#${id}`).getByRole('button', { name: 'Send' }).click();
        await page.locator(`#${id} .outcome`).getByText(/^20/).waitFor();
      }
      expect(await violationsInAllColours(page)).toEqual([]);
      expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(width);
    },
  );

  // WCAG 2.2, 2.4.1: https://www.w3.org/TR/WCAG22/#bypass-blocks
  test.each(['/docs', '/graphql'])('on %s the first stop of Tab leads past the links', async (path) => {
    const { page } = await visit(1440, 'light');
    await page.goto(`${url}${path}`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    expect(await violations(page)).toEqual([]); // now it is seen
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const place = "document.querySelector('main').compareDocumentPosition(document.activeElement)";
    expect(Number(await page.evaluate(place)) & FOLLOWING).toBe(FOLLOWING);
  });

  test('GraphiQL follows the system, whatever theme its settings had', async () => {
    const { page } = await visit(1440, 'light');
    await page.addInitScript("localStorage.setItem('graphiql:theme', 'dark')");
    await page.goto(`${url}/graphql#key=${key}`);
    await page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).waitFor();
    expect(await page.locator('body').getAttribute('class')).not.toContain('graphiql-dark');
    expect(await violations(page)).toEqual([]);
  });

  // All colours on a narrow and on a wide page; faults of contrast do not depend on more.
  test.each([
    [320, 'light'],
    [320, 'forced'],
    [720, 'dark'],
    [1440, 'light'],
    [1440, 'forced'],
    [2560, 'dark'],
  ] as const)('GraphiQL has none at %d px in %s colours, without a key and with an answer', async (width, colours) => {
    const { page } = await visit(width, colours);
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
