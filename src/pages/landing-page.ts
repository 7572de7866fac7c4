import type { Context } from 'koa';
import packageJson from '../../package.json' with { type: 'json' };
import { CREATE_KEY } from '../command-line.ts';
import { toApiError } from '../errors.ts';
import { prefersHtml } from '../web/negotiation.ts';
import { capitalised, escapeHtml, htmlDocument, htmlHeaders, ownAssets } from './page.ts';
import { REFERENCE_PATH, type Site } from './site.ts';

/**
 * The handler of `GET /`, which answers with a page or, to clients that prefer JSON, with JSON; and the assets of the
 * page.
 */
export function createLandingPage(site: Site) {
  const { service, assets, calls, addressOf, checkReady, graphiql, graphqlPath, sdlPath, openApiPath: openapi } = site;
  const { name, basePath: base } = service;
  const style = ownAssets(import.meta.url, 'landing.css');
  const description = `One GraphQL schema for ${service.keeps}, and the REST API ${calls.list.path} served from it exactly.`;
  const landing = async (ctx: Context) => {
    const fault = await checkReady().then(
      () => undefined,
      (error) => toApiError(error).message,
    );
    ctx.vary('Accept');
    if (prefersHtml(ctx)) {
      ctx.set('Content-Type', 'text/html; charset=utf-8');
      ctx.set(htmlHeaders({ connect: "'self'" })); // some crawlers fetch robots.txt by a script in the page
      const body = landingBody(site, addressOf(ctx), fault);
      const styles = [assets.style, assets.prose, ...style];
      ctx.body = htmlDocument({ title: name, description, icon: assets.icon, styles, body });
      return;
    }
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = JSON.stringify({
      name,
      description,
      version: packageJson.version,
      status: fault === undefined ? 'ready' : 'not ready',
      rest: { base, reference: REFERENCE_PATH, openapi },
      graphql: {
        endpoint: graphqlPath,
        guide: `${REFERENCE_PATH}#graphql`,
        schema: sdlPath,
        ...(graphiql && { graphiql: graphqlPath }),
      },
      health: { live: '/livez', ready: '/readyz', metrics: '/metrics' },
      keys: { header: 'Authorization: Bearer <API key>', create: CREATE_KEY },
    });
  };
  return { assets: style, landing };
}

/** The HTML of the page. `fault` is the reason why the gateway is not ready. */
function landingBody(site: Site, url: string, fault: string | undefined): string {
  const { service, assets, calls, graphiql, graphqlPath, sdlPath } = site;
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
<p>${escapeHtml(capitalised(service.things))} under <code>${calls.list.path}</code>. Read what each operation takes and answers, and try it on the page.</p>
<a href="${REFERENCE_PATH.slice(1)}">REST reference →</a>
</section>
<section class="api">
<h2>GraphQL</h2>
<p>The same ${escapeHtml(service.things)} at <code>${graphqlPath}</code>. ${graphiql ? 'Write operations with completion and documentation, from examples in tabs.' : 'Any GraphQL client reads the schema by introspection.'}</p>
<ul>
<li><a href="${REFERENCE_PATH.slice(1)}#graphql">GraphQL guide →</a></li>
${graphiql ? `<li><a href="${graphqlPath.slice(1)}">GraphiQL →</a></li>` : ''}
</ul>
</section>
<section class="api">
<h2>For programs</h2>
<p>Generate a client from the OpenAPI 3.1 document, or from the GraphQL schema. Neither needs a key.</p>
<ul>
<li><a href="${site.openApiPath.slice(1)}">openapi.json →</a></li>
<li><a href="${sdlPath.slice(1)}">${sdlPath.slice(1)} →</a></li>
</ul>
</section>
</div>
<h2>Get a key</h2>
<p>Every operation needs an API key. Whoever runs this gateway makes one, which is shown once:</p>
<pre>${CREATE_KEY}</pre>
<h2>Make a call</h2>
<pre>curl -H 'Authorization: Bearer <var>YOUR_API_KEY</var>' '${url}${calls.list.path}?limit=3'</pre>
<pre>curl -H 'Authorization: Bearer <var>YOUR_API_KEY</var>' -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ query: service.firstCalls.graphql })}' '${url}${graphqlPath}'</pre>
<footer>This page as JSON: <code>curl '${url}/'</code></footer>
</main>`;
}
