import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { describeInBrowser, newVisit } from './chromium.ts';

const gateway = await startGateway(SQLITE);
const { url, key, keys } = gateway;

const message = (page: Page) => page.locator('#key-message');

/** A page in which neither storage can be used, as by a browser's setting. */
async function blockStorage(page: Page): Promise<void> {
  await page.addInitScript(() => {
    for (const name of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(globalThis, name, {
        get() {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        },
      });
    }
  });
}

describeInBrowser('the form for the key', (browser) => {
  describe.each(['/docs', '/graphql'])('of %s', (path) => {
    test('says in the words of the API why a key was refused, and takes the corrected one', async () => {
      const { id, key: revoked } = await keys.create({ name: 'robot', expiresAt: null });
      await keys.revoke(id as Int64); // the database's own id
      const { page } = await newVisit(browser(), url);
      for (const given of [revoked, key.slice(0, -1)]) {
        const { json } = await gateway.request('/v1/pets', { headers: { authorization: `Bearer ${given}` } });
        await page.goto('about:blank');
        await page.goto(`${url}${path}#key=${given}`);
        await message(page).getByText(json.message).waitFor();
        expect(json.status).toBe(401);
      }
      // The last one stays in its field, and is corrected there.
      const input = page.getByLabel('API key');
      expect(await input.inputValue()).toBe(key.slice(0, -1));
      await input.press('End');
      await input.pressSequentially(key.slice(-1));
      await input.press('Enter');
      await page.locator('#key-form').getByText('Key petstore_').waitFor();
    });

    test('takes a refusal that is not of the API for one all the same', async () => {
      const { page } = await newVisit(browser(), url);
      await page.route('**/v1/**', (route) => route.fulfill({ status: 401, body: '<h1>No</h1>' }));
      await page.goto(`${url}${path}#key=${key}`);
      await message(page).getByText('This key was refused.').waitFor();
      expect(await page.getByLabel('API key').inputValue()).toBe(key);
    });

    test('serves where the browser blocks storage', async () => {
      const { page, complaints } = await newVisit(browser(), url);
      await blockStorage(page);
      await page.goto(`${url}${path}#key=${key}`);
      await page.locator('#key-form').getByText('Key petstore_').waitFor();
      if (path === '/docs') {
        await page.locator('#listPets').getByRole('button', { name: 'Send' }).click();
        await page.locator('#listPets').getByText('200 OK').waitFor();
        await page.locator('#listPets').getByLabel('Python').check();
      } else {
        await page.locator('.graphiql-query-editor .view-line').first().waitFor();
        await page.getByRole('button', { name: /Execute query/ }).click();
        await page.locator('.call-bar').getByText('200 OK').waitFor();
      }
      expect(complaints).toEqual([]);
    });
  });

  test.each([320, 800, 1440])('stays in sight at %d px, and hides no heading that a link leads to', async (width) => {
    const { page } = await newVisit(browser(), url, { viewport: { width, height: 800 } });
    await page.goto(`${url}/docs`);
    for (const id of ['limits', 'getPet']) {
      await page.locator('.contents').locator(`a[href="#${id}"]`).click();
      await page.waitForFunction(`scrollY > 0`);
      const field = await page.getByLabel('API key').boundingBox();
      expect(field?.y).toBeGreaterThanOrEqual(0);
      const heading = await page.locator(`#${id} h2`).boundingBox();
      expect(heading?.y).toBeGreaterThanOrEqual((field?.y ?? 0) + (field?.height ?? 0));
      expect(heading?.y).toBeLessThan(400);
      await page.evaluate('scrollTo(0, 0)');
    }
  });
});
