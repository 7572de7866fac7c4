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
});
