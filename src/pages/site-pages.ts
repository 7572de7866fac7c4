import { createGraphiql } from './graphiql.ts';
import { createLandingPage } from './landing-page.ts';
import type { Page } from './page.ts';
import { createReferencePage } from './reference-page.ts';
import { createSite, type SiteParts } from './site.ts';

/**
 * The pages of a service: GraphiQL where it is served, the reference, and all assets; `landing` answers `GET /`. Throws an error
 * that stops the start when the service has no list to show.
 */
export function createPages(parts: SiteParts) {
  const site = createSite(parts);
  const { icon } = site.assets;
  const { assets, landing } = createLandingPage(site);
  // Browsers ask for the icon by its old name where a page names none.
  const favicon: Page = { path: '/favicon.ico', contentType: icon.contentType, load: icon.load };
  const graphiql = site.graphiql ? createGraphiql(site) : [];
  return {
    pages: [...graphiql, ...createReferencePage(site), ...assets, ...Object.values(site.assets), favicon],
    landing,
  };
}
