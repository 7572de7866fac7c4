import { describe, expect, test } from 'vitest';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const { url } = await startGateway(ENGINES[0] as TestEngine);

const WIDTHS = { phone: { width: 360, height: 780 }, desktop: { width: 1440, height: 900 } };
const SCHEMES = { light: 'rgb(255, 255, 255)', dark: 'rgb(16, 22, 29)' };

describeInBrowser('the landing page', (browser) => {
  for (const [device, viewport] of Object.entries(WIDTHS)) {
    for (const [colorScheme, background] of Object.entries(SCHEMES)) {
      test(`on a ${device} in ${colorScheme} colours it fits, without scripts`, async () => {
        const options = { viewport, colorScheme: colorScheme as keyof typeof SCHEMES, javaScriptEnabled: false };
        const { page, foreign, complaints } = await newVisit(browser(), url, options);
        await page.goto(url);
        expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Petstore Gateway');
        expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(viewport.width);
        expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background);
        expect(await page.evaluate("document.querySelector('h1 img').naturalWidth > 0")).toBe(true);
        expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
      });
    }
  }

  describe('its links', () => {
    test('lead somewhere', async () => {
      const { page } = await newVisit(browser(), url);
      await page.goto(url);
      const links = (await page.evaluate('[...document.links].map((link) => link.href)')) as string[];
      const answers = await Promise.all(links.map((link) => fetch(link, { headers: { accept: 'text/html' } })));
      expect(answers.map(({ status }, index) => `${status} ${links[index]?.slice(url.length)}`)).toEqual([
        '200 /livez',
        '200 /readyz',
        '200 /metrics',
        '200 /docs',
        '200 /docs#graphql',
        '200 /graphql',
        '200 /v1/openapi.json',
        '200 /schema.graphql',
      ]);
    });
  });
});
