import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { servedPages } from '../support/served-pages.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const { url, key } = await startGateway(SQLITE);
const pages = await servedPages(url);

describeInBrowser('every page', (browser) => {
  const ways = pages.flatMap(({ path }) => [
    { name: path, address: path },
    { name: `${path} by a link with a key`, address: `${path}#key=${key}` },
  ]);
  test.each(ways)('$name opens without a complaint', async ({ address }) => {
    const { page, foreign, complaints } = await newVisit(browser(), url);
    await page.goto(url + address);
    expect(await page.title()).not.toBe('');
    expect({ foreign, complaints }).toEqual({ foreign: [], complaints: [] });
  });

  // Before Safari 17.5, Chrome 123, Firefox 120.
  test.each(['/', '/docs'])('in browsers without light-dark() the code of %s can be read', async (path) => {
    const { page } = await newVisit(browser(), url);
    await page.route(/\.css/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll('light-dark(', 'unknown(') });
    });
    await page.goto(url + path);
    const coloursOf = (code: Element) => [getComputedStyle(code).color, getComputedStyle(code).backgroundColor];
    expect(await page.locator('pre').first().evaluate(coloursOf)).toEqual(['rgb(0, 0, 0)', 'rgba(0, 0, 0, 0)']);
  });

  test('without scripts GraphiQL says that it needs them, and nothing else', async () => {
    const { page } = await newVisit(browser(), url, { javaScriptEnabled: false });
    await page.goto(`${url}/graphql`);
    await page.locator('noscript p').waitFor();
    expect(await page.getByText('Loading the editor').isVisible()).toBe(false);
    expect(await page.getByRole('button').count()).toBe(0);
  });
});
