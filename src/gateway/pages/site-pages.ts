import { createGraphiql } from './graphiql.ts';
import { createLandingPage } from './landing-page.ts';
import type { Page } from './page.ts';
import { createReferencePage } from './reference-page.ts';
import { createSite, type SiteParts } from './site.ts';

/** The pages of a service with their assets. Throws an error, which stops the start, when it has no list for the samples. */
export function createPages(parts: SiteParts): readonly Page[] {
  const site = createSite(parts);
  const icons = site.assets.filter(({ path }) => path.endsWith('/icon.svg'));
  return [
    createLandingPage(site),
    ...(site.graphiql ? createGraphiql(site) : []),
    createReferencePage(site),
    ...site.assets,
    // Browsers request it for documents that name no icon, such as JSON.
    ...icons.map((icon) => ({ ...icon, path: '/favicon.ico', immutable: false })),
  ];
}
