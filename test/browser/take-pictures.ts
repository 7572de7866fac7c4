import { writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { createLog } from '../../src/log.ts';
import { samplePet } from '../../src/pets/sample-pets.ts';
import { listen } from '../../src/process/server.ts';
import { launch, newVisit } from './chromium.ts';

/*
 * Takes the pictures of docs/pictures from a running service: node test/browser/take-pictures.ts
 * They look best where the font Inter is installed.
 */

const config = readConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent' });
const log = createLog(config.logLevel);
const gateway = await createGateway(config, log);
const server = await listen(gateway, config, log);
await gateway.pets.addPets(Array.from({ length: 12 }, (_, index) => samplePet(index)));
const { key } = await gateway.keys.create({ name: 'pictures', expiresAt: null });
const browser = await launch();

interface Picture {
  readonly path: string;
  readonly viewport: { width: number; height: number };
  act?(page: Page): Promise<void>;
}

/** Each picture: where it is taken, and what is done there before. */
const PICTURES: Readonly<Record<string, Picture>> = {
  landing: { path: '/', viewport: { width: 1280, height: 920 } },
  reference: { path: '/docs', viewport: { width: 1280, height: 1120 }, act: showReference },
  graphiql: { path: `/graphql#key=${key}`, viewport: { width: 1440, height: 860 }, act: showGraphiql },
};

for (const [name, { path, viewport, act }] of Object.entries(PICTURES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await newVisit(browser, server.url, { viewport, colorScheme });
    await page.goto(server.url + path);
    await act?.(page);
    const suffix = colorScheme === 'dark' ? '-dark' : '';
    await writeFile(new URL(`../../docs/pictures/${name}${suffix}.png`, import.meta.url), await page.screenshot());
  }
}
await browser.close();
await server.close();

async function showReference(page: Page): Promise<void> {
  const bar = page.locator('#key-bar');
  await bar.locator('input[name=key]').fill(key);
  await bar.locator('button').click();
  await bar.waitFor({ state: 'hidden' });
  await page.locator('#operations-pets-getPet .opblock-summary-control').click();
  await page.locator('.execute').waitFor();
  await page.mouse.move(0, 0);
  await page.evaluate('scrollTo(0, 0)');
  await page.waitForTimeout(500); // the operation unfolds
}

async function showGraphiql(page: Page): Promise<void> {
  await page.locator('.graphiql-plugin').getByRole('link', { name: 'Query' }).click();
  await page.getByRole('tab', { name: 'FilterByStatus' }).click();
  await page.waitForTimeout(500); // GraphiQL writes what changed into the active tab with a delay
  await page.getByRole('button', { name: /Execute query/ }).click();
  await page.locator('.result-window').getByText('Bella').waitFor();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(500); // the spinner goes
}
