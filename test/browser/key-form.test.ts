import type { Locator, Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
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

/** GraphiQL writes what changed into its tabs with a delay. */
const WRITES_TABS_MS = 700;

/** What the Back button does to a page in the back/forward cache, which Playwright's Chromium does not have. */
const COME_BACK = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))";

const form = (page: Page) => page.locator('#key-form');
const shownKey = (page: Page, shown: string) =>
  form(page)
    .getByText(`Key ${shown.slice(0, 13)}…`)
    .waitFor();
const forget = (page: Page) => form(page).getByRole('button', { name: 'forget' }).click();

async function replaceKey(page: Page, next: string): Promise<void> {
  await form(page).getByRole('button', { name: 'change' }).click();
  await form(page).getByLabel('API key').fill(next);
  await page.keyboard.press('Enter');
  await shownKey(page, next);
}

/** Opens a page with the key in the tab; GraphiQL with its documentation loaded, so that no call is under way. */
async function openWithKey(page: Page, path: string): Promise<void> {
  await page.goto(`${url}${path}#key=${key}`);
  await shownKey(page, key);
  expect(page.url()).toBe(url + path); // it is in no history
  if (path === '/docs') return;
  await page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).waitFor();
  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  await headersShow(page, key);
}

const headersShow = (page: Page, text: string) =>
  page.locator('.graphiql-editor-tool .view-lines').getByText(text).waitFor();

/** No key: in the form, in the tab's storage, in any header editor. */
async function expectNoKey(page: Page): Promise<void> {
  expect(await form(page).getAttribute('data-state')).toBe('needed');
  expect(await page.getByLabel('API key').inputValue()).toBe('');
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(key);
  expect((await page.locator('.graphiql-editor-tool .view-lines').allTextContents()).join()).not.toContain(key);
}

/** Makes a call whose answer is held back: what lets it come, and waits until the page has shown it. */
async function callInFlight(page: Page, path: string, answer?: { status: number }): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const isReference = path === '/docs';
  const address = isReference ? /pets\?limit=20$/ : /graphql$/;
  const hold = (route: Route) => released.then(() => (answer ? route.fulfill(answer) : route.continue()));
  await page.route(address, hold, { times: 1 });
  const sent = page.waitForRequest(address);
  const place = page.locator(isReference ? '#listPets' : '#graphiql');
  await place.getByRole('button', { name: isReference ? 'Send' : /Execute query/ }).click();
  await sent;
  return async () => {
    release();
    await place
      .locator(isReference ? '.outcome' : '.result-window')
      .getByText(isReference ? /^\d{3} / : /data|errors/)
      .waitFor();
  };
}

/** Gives the form another key, whose check is held back: what lets the answer come, and waits until the page has seen it. */
async function checkHeldBack(page: Page, next: string): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/limit=1$/, (route) => released.then(() => route.continue()));
  await form(page).getByRole('button', { name: 'change' }).click();
  await page.getByLabel('API key').fill(next);
  await page.keyboard.press('Enter');
  await message(page).getByText('Checking the key').waitFor();
  return async () => {
    const answered = page.waitForResponse(/limit=1$/);
    release();
    await (await answered).finished();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))'); // the page has its turn
  };
}

/** Whether nothing lies over an element. */
const isOnTop = (locator: Locator): Promise<boolean> =>
  locator.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  });

/** Whether all of the form's message is in sight. */
const isMessageSeen = (page: Page): Promise<boolean> =>
  message(page).evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const isOnTop = document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === element;
    return isOnTop && element.scrollWidth <= element.clientWidth && left >= 0 && right <= innerWidth;
  });

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

    test('an answer that comes after the key was forgotten does not bring it back', async () => {
      const { page } = await newVisit(browser(), url);
      await openWithKey(page, path);
      const answer = await callInFlight(page, path);
      await forget(page);
      await answer();
      await expectNoKey(page);
      if (path === '/graphql') return;
      await page.locator('#listPets').getByRole('button', { name: 'Send' }).click();
      await page.locator('#listPets .outcome').getByText(/^401/).waitFor();
      expect(await page.locator('#listPets .sent').textContent()).not.toContain('Authorization');
    });

    test.each([
      ['an answer', undefined],
      ['a refusal', { status: 401 }],
    ])('%s to the key before does not undo a change', async (_what, given) => {
      const { page } = await newVisit(browser(), url);
      const { key: next } = await keys.create({ name: 'next', expiresAt: null });
      await openWithKey(page, path);
      const answer = await callInFlight(page, path, given);
      await replaceKey(page, next);
      await answer();
      expect(await form(page).locator('code').textContent()).toBe(`${next.slice(0, 13)}…`);
      expect(await form(page).getAttribute('data-state')).toBe('accepted');
      expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).toContain(next);
    });
  });

  test.each(['/docs', '/graphql'])(
    'a link to %s with a refused key leaves the tab the key that it has',
    async (path) => {
      const { page } = await newVisit(browser(), url);
      await openWithKey(page, path);
      await page.goto('about:blank');
      await page.goto(`${url}${path}#key=${key.slice(0, -1)}`);
      await message(page).getByText('This key was refused.').waitFor();
      expect(await page.evaluate("sessionStorage.getItem('petstore_key')")).toBe(key);
      const sent = page.waitForRequest(path === '/docs' ? /pets\?limit=20$/ : /graphql$/);
      const place = page.locator(path === '/docs' ? '#listPets' : '#graphiql');
      await place.getByRole('button', { name: path === '/docs' ? 'Send' : /Execute query/ }).click();
      expect(await (await sent).headerValue('authorization')).toBe(`Bearer ${key}`);
    },
  );

  test('a key that is still being checked when "forget" is pressed is not taken', async () => {
    const { page } = await newVisit(browser(), url);
    await openWithKey(page, '/docs');
    const release = await checkHeldBack(page, key);
    await page.keyboard.press('Escape');
    await forget(page);
    await release();
    await expectNoKey(page);
  });

  test('a key whose check is left by Escape is not taken', async () => {
    const { page } = await newVisit(browser(), url);
    const { key: next } = await keys.create({ name: 'next', expiresAt: null });
    await openWithKey(page, '/docs');
    const release = await checkHeldBack(page, next);
    await page.keyboard.press('Escape');
    await release();
    expect(await form(page).locator('code').textContent()).toBe(`${key.slice(0, 13)}…`);
    expect(await page.evaluate("sessionStorage.getItem('petstore_key')")).toBe(key);
  });

  test.each(['/docs', '/graphql'])(
    '%s, shown again from the back/forward cache, has the key of the tab',
    async (path) => {
      const { page } = await newVisit(browser(), url);
      const { key: next } = await keys.create({ name: 'next', expiresAt: null });
      await openWithKey(page, path);
      expect(await page.evaluate("sessionStorage.getItem('petstore_key')")).toBe(key);
      await page.evaluate(`sessionStorage.setItem('petstore_key', '${next}'); ${COME_BACK}`);
      await shownKey(page, next);
      if (path === '/graphql') await headersShow(page, next);
      await page.evaluate(`sessionStorage.removeItem('petstore_key'); ${COME_BACK}`);
      await expectNoKey(page);
    },
  );

  test('where storage is blocked, the cache keeps the key that only the page has', async () => {
    const { page } = await newVisit(browser(), url);
    await blockStorage(page);
    await openWithKey(page, '/docs');
    await page.evaluate(COME_BACK);
    expect(await form(page).getAttribute('data-state')).toBe('accepted');
  });

  // A tab keeps the headers that it was left with, a new one gets those of the start.
  test.each([
    ['a new tab', 'New tab'],
    ['an earlier tab', 'FilterByStatus'],
  ])('in GraphiQL %s does not bring a forgotten key back', async (_which, button) => {
    const { page, requested } = await newVisit(browser(), url);
    await openWithKey(page, '/graphql');
    for (const title of ['FilterByStatus', 'NextPage']) {
      await page.getByRole('button', { name: title, exact: true }).click();
      await page.locator('.graphiql-tab-active').getByText(title).waitFor();
      await headersShow(page, key);
      await page.waitForTimeout(WRITES_TABS_MS);
    }
    await forget(page);
    await headersShow(page, '<API key>');
    await page.waitForTimeout(WRITES_TABS_MS);
    const asked = () => requested.filter((address) => address.endsWith('/graphql')).length;
    const before = asked();
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.locator('.graphiql-tab-active').getByText('NextPage').waitFor({ state: 'detached' });
    await page.waitForTimeout(WRITES_TABS_MS);
    expect(asked()).toBe(before);
    await expectNoKey(page);
    await headersShow(page, '<API key>');
  });

  test.each([320, 390, 1280, 1440].flatMap((width) => ['/docs', '/graphql'].map((path) => [width, path] as const)))(
    'says at %d px on %s in full what it says',
    async (width, path) => {
      const { page } = await newVisit(browser(), url, { viewport: { width, height: 800 } });
      await page.goto(url + path);
      expect(await isMessageSeen(page)).toBe(true);
      await page.goto(`${url}${path}#key=${key.slice(0, -1)}`);
      await message(page).getByText('This key was refused.').waitFor();
      expect(await isMessageSeen(page)).toBe(true);
      if (path === '/docs') await page.locator('a[href="#getPet"]').first().click();
      const below = page.locator(path === '/docs' ? '#getPet h2' : '.graphiql-sidebar button').first();
      await eventually(() => isOnTop(below), 30_000, 'what is below can be seen');
      await page.route('**/v1/**', (route) => route.abort());
      await page.route('**/graphql', () => {}); // an answer to GraphiQL's own call tells that it can be reached
      await page.goto(`${url}${path}#key=${key}`);
      await message(page).getByText('The gateway cannot be reached').waitFor();
      expect(await isMessageSeen(page)).toBe(true);
    },
  );

  test('no longer says that the gateway cannot be reached when a call is answered', async () => {
    const { page } = await newVisit(browser(), url);
    await page.route(/limit=1$/, (route) => route.abort());
    await page.goto(`${url}/docs#key=${key}`);
    await message(page).getByText('The gateway cannot be reached').waitFor();
    await page.locator('#listPets').getByRole('button', { name: 'Send' }).click();
    await message(page).getByText('Kept in this tab only.').waitFor();
    expect(await form(page).getAttribute('data-state')).toBe('accepted');
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
