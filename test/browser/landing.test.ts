import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const { url } = await startGateway(SQLITE);

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
});
