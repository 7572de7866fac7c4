import { writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { readConfig } from '../../src/gateway/config.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/gateway/log.ts';
import { listen } from '../../src/gateway/process/server.ts';
import { PETS, samplePet } from '../../src/petstore/pets/pet.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { launch, newVisit } from './chromium.ts';

/*
 * Takes the pictures of docs/pictures from a running service: node test/browser/take-pictures.ts
 * They look best where the font Inter is installed.
 */

const config = readConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent', PORT: '0' });
const log = createLog(config.logLevel);
const gateway = await createGateway({ service: PETSTORE, config, log });
const server = await listen(gateway, config, log);
await gateway.stores(PETS).addAll(Array.from({ length: 12 }, (_, index) => samplePet(index)));
const { key } = await gateway.keys.create({ name: 'pictures', expiresAt: null });
const browser = await launch();

/** Each picture: where it is taken, and what is done there before. */
const PICTURES: Readonly<Record<string, { path: string; act?(page: Page): Promise<void> }>> = {
  landing: { path: '/' },
  reference: { path: `/docs#key=${key}`, act: showReference },
  graphiql: { path: `/graphql#key=${key}`, act: showGraphiql },
};
const VIEWPORTS = { '': { width: 1440, height: 900 }, '-390': { width: 390, height: 844 } };

for (const [name, { path, act }] of Object.entries(PICTURES)) {
  for (const [size, viewport] of Object.entries(VIEWPORTS)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await newVisit(browser, server.url, { viewport, colorScheme });
      await page.goto(server.url + path);
      await act?.(page);
      const file = `${name}${size}${colorScheme === 'dark' ? '-dark' : ''}.png`;
      await writeFile(new URL(`../../docs/pictures/${file}`, import.meta.url), await page.screenshot());
      await page.context().close();
    }
  }
}
await browser.close();
await server.close();

async function showReference(page: Page): Promise<void> {
  await page.locator('#key-form').getByText('Key petstore_').waitFor();
  const operation = page.locator('#listPets');
  await operation.getByLabel('limit').fill('1');
  await operation.getByRole('button', { name: 'Send' }).click();
  await operation.getByText('200 OK').waitFor();
  await page.evaluate("document.querySelector('#listPets').scrollIntoView()");
}

async function showGraphiql(page: Page): Promise<void> {
  await page.locator('.graphiql-container .graphiql-tab').first().waitFor();
  await page.getByRole('button', { name: 'FilterByStatus' }).click();
  await page.waitForTimeout(500); // GraphiQL writes what changed into the active tab with a delay
  await page.getByRole('button', { name: /Execute query/ }).click();
  await page.locator('.result-window').getByText('Bella').waitFor();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(500); // the spinner goes
}
