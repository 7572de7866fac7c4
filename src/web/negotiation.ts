import type { Context } from 'koa';
import { keepRecent } from '../recent.ts';

// The first is for clients that accept anything, https://graphql.github.io/graphql-over-http/draft/#sec-Legacy-Watershed
const GRAPHQL_TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'] as const;

// Every client sends one and the same Accept with all of its requests, and reading it costs as much as reading the body.
const accepted = keepRecent<string>(100);
const ACCEPT_MAX = 200;

/** The media type of a GraphQL answer that a request prefers. RFC 9110 §12.5.1 lets a server disregard an Accept without any of its own. */
export function acceptedMediaType(ctx: Pick<Context, 'headers' | 'accepts'>): string {
  const { accept = '' } = ctx.headers;
  const known = accepted.get(accept);
  if (known !== undefined) return known;
  const type = ctx.accepts([...GRAPHQL_TYPES]) || GRAPHQL_TYPES[0];
  if (accept.length <= ACCEPT_MAX) accepted.set(accept, type);
  return type;
}

/** Whether a request would rather have HTML than JSON, as browsers do; who takes anything gets JSON. */
export function prefersHtml(ctx: Pick<Context, 'accepts'>): boolean {
  return ctx.accepts('application/json', 'application/graphql-response+json', 'text/html') === 'text/html';
}
