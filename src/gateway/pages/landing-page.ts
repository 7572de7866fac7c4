import { VERSION } from '../product.ts';
import { html } from './html.ts';
import { htmlPage, type Page, relative } from './page.ts';
import type { Site } from './site.ts';

/** The page at `/`, with links to all others. */
export function createLandingPage({ service, graphiql, probePaths, graphqlPath, fill }: Site): Page {
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
