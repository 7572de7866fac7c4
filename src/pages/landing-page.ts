import type { Context } from 'koa';
import packageJson from '../../package.json' with { type: 'json' };
import { CREATE_KEY } from '../command-line.ts';
import { toApiError } from '../errors.ts';
import { prefersHtml } from '../web/negotiation.ts';
import { html } from './html.ts';
import { ADDRESS, htmlHeaders, relative } from './page.ts';
import { REFERENCE_PATH, type Site } from './site.ts';

const READY = '<li class="ready">Ready</li>';

/** Creates the handler of `GET /`, which answers with a page or, to clients that prefer JSON, with JSON. */
export function createLandingPage(site: Site): (ctx: Context) => Promise<void> {
  const { service, calls, addressOf, checkReady, graphiql, graphqlPath, sdlPath, openApiPath: openapi } = site;
  const { name, basePath: base } = service;
  const description = `One GraphQL schema for ${service.subject}, and the REST API ${calls.list.path} served from it exactly.`;
  const page = site.fill('landing.html', {
    DESCRIPTION: description,
    STATUS: { html: READY },
    VERSION: packageJson.version,
    EXPLORE: graphiql
      ? 'Write operations with completion and documentation, from examples in tabs.'
      : 'Any GraphQL client reads the schema by introspection.',
    TO_GRAPHIQL: graphiql && html`<li><a href="${relative(graphqlPath)}">GraphiQL →</a></li>`,
    BODY: JSON.stringify({ query: service.firstCalls.graphql }),
  });
  return async (ctx) => {
    const fault = await checkReady().then(
      () => undefined,
      (error) => toApiError(error).message,
    );
    ctx.vary('Accept');
    if (prefersHtml(ctx)) {
      ctx.set('Content-Type', 'text/html; charset=utf-8');
      ctx.set(htmlHeaders({ connect: "'self'" })); // some crawlers fetch robots.txt by a script in the page
      const status = fault === undefined ? READY : html`<li class="unready">Not ready. ${fault}</li>`.html;
      ctx.body = page.html.replace(READY, () => status).replaceAll(ADDRESS, addressOf(ctx));
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
}
