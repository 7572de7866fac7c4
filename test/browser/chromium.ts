import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { browserPath, has } from '../support/tools.ts';

const executablePath = browserPath();

// The tests' machines may have no way out, and Chromium would try it all the same.
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// GraphiQL alone is 5 MB of script, several times in a test, on a machine that may have other work.
const BUSY_MS = 240_000;

/** A page, with all that it must not do. */
export interface Visit {
  readonly page: Page;
  /** Requests for other hosts, each of which was refused. */
  readonly foreign: string[];
  /** Errors and warnings of the console, violations of the content security policy and uncaught exceptions. */
  readonly complaints: string[];
  /** Every address that was asked for. */
  readonly requested: string[];
}

/** By browser, what no page of ours may ever cause: violations of its own policy, exceptions that nobody catches. */
const faults = new WeakMap<Browser, string[]>();
const POLICY = /Content[- ]Security[- ]Policy/i;

/** Starts the browser. Whoever calls closes it. */
export function launch(): Promise<Browser> {
  return chromium.launch({ args: ARGUMENTS, ...(executablePath && { executablePath }) });
}

/**
 * A fresh visitor: no storage, every foreign host blocked, the console watched. What violates a page's own policy, and what
 * it throws, fails the test (`describeInBrowser`) even if nobody looks at `complaints`.
 */
export async function newVisit(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext(options);
  const visit: Visit = { page: await context.newPage(), foreign: [], complaints: [], requested: [] };
  visit.page.setDefaultTimeout(BUSY_MS / 2); // what it waited for is told before the test's own limit
  await context.route(
    (url) => url.origin !== origin,
    (route) => {
      visit.foreign.push(route.request().url());
      return route.abort();
    },
  );
  context.on('request', (request) => visit.requested.push(request.url()));
  const noteFault = (fault: string) => faults.set(browser, [...(faults.get(browser) ?? []), fault]);
  context.on('weberror', (error) => {
    visit.complaints.push(error.error().message);
    noteFault(`${error.page()?.url()}: ${error.error().message}`);
  });
  context.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type())) visit.complaints.push(text);
    if (POLICY.test(text)) noteFault(`${message.page()?.url()}: ${text}`);
  });
  return visit;
}

/** Tests in a browser, where there is one. */
export function describeInBrowser(name: string, body: (browser: () => Browser) => void): void {
  describe.runIf(has('browser'))(name, { timeout: BUSY_MS }, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await launch();
    });
    // A page that stays open goes on working, beside those of the tests that follow.
    afterEach(async () => {
      if (browser === undefined) return;
      const found = faults.get(browser) ?? [];
      await Promise.all(browser.contexts().map((context) => context.close()));
      faults.delete(browser); // what a page that is closed was loading fails
      expect(found, 'faults of a page, whatever the test was about').toEqual([]);
    });
    afterAll(() => browser?.close());
    body(() => browser as Browser); // launched before the first test
  });
}
