import type { Middleware } from 'koa';
import packageJson from '../../package.json' with { type: 'json' };
import { toApiError } from '../errors.ts';
import { GRAPHQL_PATH } from '../graphql/endpoint.ts';
import { OPENAPI_PATH } from '../rest/openapi.ts';
import { BASE_PATH } from '../rest/operations.ts';
import { baseUrl } from '../web/base-url.ts';
import { prefersHtml } from '../web/negotiation.ts';
import {
  escapeHtml,
  htmlDocument,
  htmlHeaders,
  ownAssets,
  type Page,
  PROSE_STYLE,
  SITE_ICON,
  SITE_STYLE,
} from './page.ts';
import { REFERENCE_PATH } from './site-header.ts';

const [STYLE] = ownAssets(import.meta.url, 'landing.css') as [Page];

/** What the landing page refers to; browsers ask for the icon by its old name where a page names none. */
export const LANDING_ASSETS: readonly Page[] = [
  STYLE,
  PROSE_STYLE,
  SITE_STYLE,
  SITE_ICON,
  { path: '/favicon.ico', contentType: SITE_ICON.contentType, load: SITE_ICON.load },
];

/** What the landing page tells of. */
export interface LandingParts {
  /** Whether GraphiQL is served. */
  readonly graphiql: boolean;
  readonly publicUrl: string | undefined;
  /** Throws an ApiError, whose message says why, when a request could not be served. */
  readonly checkReady: () => Promise<object>;
}

/** `GET /`: what runs here and where, as a page or, for who prefers it, as JSON. */
export function createLandingPage({ graphiql, publicUrl, checkReady }: LandingParts): Middleware {
  return async (ctx) => {
    ctx.state.operation = 'page';
    const fault = await checkReady().then(
      () => undefined,
      (error) => toApiError(error).message,
    );
    ctx.vary('Accept');
    if (!prefersHtml(ctx)) {
      ctx.set('Content-Type', 'application/json; charset=utf-8');
      ctx.body = JSON.stringify(describe(graphiql, fault === undefined));
      return;
    }
    ctx.set('Content-Type', 'text/html; charset=utf-8');
    ctx.set(htmlHeaders({ connect: "'self'" })); // crawlers read robots.txt from within the page
    const body = landingBody(baseUrl(ctx.req, publicUrl), graphiql, fault);
    ctx.body = htmlDocument({
      title: 'Petstore Gateway',
      description: packageJson.description,
      styles: [PROSE_STYLE, STYLE],
      body,
    });
  };
}

function describe(graphiql: boolean, isReady: boolean): Readonly<Record<string, unknown>> {
  return {
    name: 'Petstore Gateway',
    description: packageJson.description,
    version: packageJson.version,
    status: isReady ? 'ready' : 'not ready',
    rest: { base: BASE_PATH, reference: REFERENCE_PATH, openapi: OPENAPI_PATH },
    graphql: { endpoint: GRAPHQL_PATH, ...(graphiql && { graphiql: GRAPHQL_PATH }) },
    health: { live: '/livez', ready: '/readyz', metrics: '/metrics' },
    keys: { header: 'Authorization: Bearer <API key>', create: KEY_COMMAND },
  };
}

const KEY_COMMAND = 'npm run keys -- create --name NAME';

/** `fault` says why a request could not be served. */
function landingBody(baseUrl: string, graphiql: boolean, fault: string | undefined): string {
  const url = escapeHtml(baseUrl);
  return `<main>
<h1><img src="${SITE_ICON.path.slice(1)}" alt="">Petstore Gateway</h1>
<p class="lead">The animals of a pet store, over REST and over GraphQL: one schema, one store, one API key for both.</p>
<ul class="status">
${fault === undefined ? '<li class="ready">Ready</li>' : `<li class="unready">Not ready. ${escapeHtml(fault)}</li>`}
<li>Version ${escapeHtml(packageJson.version)}</li>
<li><a href="livez">/livez</a></li>
<li><a href="readyz">/readyz</a></li>
<li><a href="metrics">/metrics</a></li>
</ul>
<div class="apis">
<section class="api">
<h2>REST</h2>
<p>List, add and fetch animals under <code>${BASE_PATH}/pets</code>. Read what each operation takes and answers, and try it on the page.</p>
<a href="${REFERENCE_PATH.slice(1)}">REST reference →</a>
</section>
<section class="api">
<h2>GraphQL</h2>
<p>The same animals at <code>${GRAPHQL_PATH}</code>. ${graphiql ? 'Write operations with completion and documentation, from examples in tabs.' : 'Any GraphQL client reads the schema by introspection.'}</p>
${graphiql ? `<a href="${GRAPHQL_PATH.slice(1)}">GraphiQL →</a>` : ''}
</section>
<section class="api">
<h2>For programs</h2>
<p>Generate a client from the OpenAPI 3.1 document, or from the GraphQL schema: introspection with your key.</p>
<a href="${OPENAPI_PATH.slice(1)}">openapi.json →</a>
</section>
</div>
<h2>Get a key</h2>
<p>Every operation needs an API key. Whoever runs this gateway makes one, which is shown once:</p>
<pre>${KEY_COMMAND}</pre>
<h2>Make a call</h2>
<pre>curl -H 'Authorization: Bearer <var>YOUR_API_KEY</var>' '${url}${BASE_PATH}/pets?limit=3'</pre>
<pre>curl -H 'Authorization: Bearer <var>YOUR_API_KEY</var>' -H 'Content-Type: application/json' \\
  -d '{"query":"{ pets(limit: 3) { id name status } }"}' '${url}${GRAPHQL_PATH}'</pre>
<footer>This page as JSON: <code>curl '${url}/'</code></footer>
</main>`;
}
