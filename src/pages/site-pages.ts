import { createGraphiql } from './graphiql.ts';
import { createLandingPage } from './landing-page.ts';
import type { Page } from './page.ts';
import { createReferencePage } from './reference-page.ts';
import { createSite, type SiteParts } from './site.ts';

/**
 * The pages of a service with their assets, and `landing`, the handler of `GET /`. Throws an error, which stops the
 * start, when the service has no list for the samples.
 */
export function createPages(parts: SiteParts) {
  const site = createSite(parts);
  // Browsers request /favicon.ico for documents that name no icon, such as JSON.
  const favicon: Page = { ...site.icon, path: '/favicon.ico', immutable: false };
  const graphiql = site.graphiql ? createGraphiql(site) : [];
  return {
    pages: [...graphiql, createReferencePage(site), ...site.assets, favicon],
    landing: createLandingPage(site),
  };
}
