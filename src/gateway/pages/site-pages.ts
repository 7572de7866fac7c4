import { VERSION } from '../product.ts';
import { createGraphiql } from './graphiql.ts';
import { html, htmlPage, type Page, relative } from './page.ts';
import { createReferencePage } from './reference-page.ts';
import { createSite, type Site, type SiteParts } from './site.ts';

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

/** The page at `/`, with links to all others. */
function createLandingPage({ service, graphiql, probePaths, graphqlPath, fill }: Site): Page {
  const content = fill('landing.html', {
    VERSION,
    PROBES: probePaths.map((path) => html`\n<li><a href="${relative(path)}">${path}</a></li>`),
    EXPLORE: graphiql
      ? 'Write operations with completion and documentation, from examples in tabs.'
      : 'Any GraphQL client reads the schema by introspection.',
    TO_GRAPHIQL: graphiql && html`<li><a href="${relative(graphqlPath)}">GraphiQL →</a></li>`,
    BODY: JSON.stringify({ query: service.firstCalls.graphql }),
  });
  // `connect` is for crawlers that fetch robots.txt by a script in the page.
  return htmlPage('/', { connect: "'self'" }, content);
}
