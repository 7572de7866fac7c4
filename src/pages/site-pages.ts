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
  const icons = site.assets.filter(({ path }) => path.endsWith('/icon.svg'));
  return {
    pages: [
      ...(site.graphiql ? createGraphiql(site) : []),
      createReferencePage(site),
      ...site.assets,
      // Browsers request it for documents that name no icon, such as JSON.
      ...icons.map((icon): Page => ({ ...icon, path: '/favicon.ico', immutable: false })),
    ],
    landing: createLandingPage(site),
  };
}
