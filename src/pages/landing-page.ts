import type { Context } from 'koa';
import packageJson from '../../package.json' with { type: 'json' };
import { toApiError } from '../errors.ts';
import { baseUrl } from '../web/base-url.ts';
import { prefersHtml } from '../web/negotiation.ts';
import { capitalised, escapeHtml, htmlDocument, htmlHeaders, ownAssets, type Page } from './page.ts';
import { REFERENCE_PATH } from './site-header.ts';
import type { Site } from './site-parts.ts';

/** What answers `GET /`, with what runs here and where: a page or, for who prefers it, JSON; and the page's own assets. */
export function createLandingPage(site: Site) {
  const { service, assets, publicUrl, checkReady } = site;
  const [style] = ownAssets(import.meta.url, 'landing.css') as [Page];
  const page = {
    title: service.name,
    description: summarise(site),
    icon: assets.icon,
    styles: [assets.style, assets.prose, style],
  };
  const landing = async (ctx: Context) => {
    const fault = await checkReady().then(
      () => undefined,
      (error) => toApiError(error).message,
    );
    ctx.vary('Accept');
    if (!prefersHtml(ctx)) {
      ctx.set('Content-Type', 'application/json; charset=utf-8');
      ctx.body = JSON.stringify(describe(site, fault === undefined));
      return;
    }
    ctx.set('Content-Type', 'text/html; charset=utf-8');
    ctx.set(htmlHeaders({ connect: "'self'" })); // crawlers read robots.txt from within the page
    ctx.body = htmlDocument({ ...page, body: landingBody(site, baseUrl(ctx.req, publicUrl), fault) });
  };
  return { assets: [style], landing };
}

/** The service in one sentence. */
function summarise({ service, calls }: Site): string {
  return `One GraphQL schema for ${service.keeps}, and the REST API ${calls.list.path} served from it exactly.`;
}

function describe(site: Site, isReady: boolean): Readonly<Record<string, unknown>> {
  const { service, graphiql, graphqlPath, openApiPath } = site;
  return {
    name: service.name,
    description: summarise(site),
    version: packageJson.version,
    status: isReady ? 'ready' : 'not ready',
    rest: { base: service.basePath, reference: REFERENCE_PATH, openapi: openApiPath },
    graphql: { endpoint: graphqlPath, ...(graphiql && { graphiql: graphqlPath }) },
    health: { live: '/livez', ready: '/readyz', metrics: '/metrics' },
    keys: { header: 'Authorization: Bearer <API key>', create: KEY_COMMAND },
  };
}

const KEY_COMMAND = 'npm run keys -- create --name NAME';

/** `fault` says why a request could not be served. */
function landingBody(site: Site, address: string, fault: string | undefined): string {
  const { service, assets, calls, graphiql, graphqlPath } = site;
  const url = escapeHtml(address);
  return `<main>
<h1><img src="${assets.icon.path.slice(1)}" alt="">${escapeHtml(service.name)}</h1>
<p class="lead">${escapeHtml(capitalised(service.keeps))}, over REST and over GraphQL: one schema, one store, one API key for both.</p>
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
<p>${escapeHtml(service.offers)} under <code>${calls.list.path}</code>. Read what each operation takes and answers, and try it on the page.</p>
<a href="${REFERENCE_PATH.slice(1)}">REST reference →</a>
</section>
<section class="api">
<h2>GraphQL</h2>
<p>The same ${escapeHtml(service.things)} at <code>${graphqlPath}</code>. ${graphiql ? 'Write operations with completion and documentation, from examples in tabs.' : 'Any GraphQL client reads the schema by introspection.'}</p>
${graphiql ? `<a href="${graphqlPath.slice(1)}">GraphiQL →</a>` : ''}
</section>
<section class="api">
<h2>For programs</h2>
<p>Generate a client from the OpenAPI 3.1 document, or from the GraphQL schema: introspection with your key.</p>
<a href="${site.openApiPath.slice(1)}">openapi.json →</a>
</section>
</div>
<h2>Get a key</h2>
<p>Every operation needs an API key. Whoever runs this gateway makes one, which is shown once:</p>
<pre>${KEY_COMMAND}</pre>
<h2>Make a call</h2>
<pre>curl -H 'Authorization: Bearer <var>YOUR_API_KEY</var>' '${url}${calls.list.path}?limit=3'</pre>
<pre>curl -H 'Authorization: Bearer <var>YOUR_API_KEY</var>' -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ query: service.sampleQuery })}' '${url}${graphqlPath}'</pre>
<footer>This page as JSON: <code>curl '${url}/'</code></footer>
</main>`;
}
