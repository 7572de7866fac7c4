import type { Context } from 'koa';
import { createLruCache } from '../lru-cache.ts';

/**
 * Every client sends one and the same header with all of its requests, and reading it costs as much as reading a body:
 * the choices are remembered. A longer one counts as absent, because reading it takes time by the square of its length.
 */
const NEGOTIATED_MAX = 1024;
const REMEMBERED = 100;

type Negotiated = Pick<Context, 'headers' | 'accepts' | 'acceptsEncodings'>;

/** The choice that a header of a request makes; `absent` without the header. */
function chooseBy<Choice extends string>(
  header: 'accept' | 'accept-encoding',
  absent: Choice,
  choose: (ctx: Negotiated) => Choice,
): (ctx: Negotiated) => Choice {
  const chosen = createLruCache<Choice>(REMEMBERED);
  return (ctx) => {
    const sent = ctx.headers[header];
    if (sent === undefined || sent.length > NEGOTIATED_MAX) return absent;
    const known = chosen.get(sent);
    if (known !== undefined) return known;
    const choice = choose(ctx);
    chosen.set(sent, choice);
    return choice;
  };
}

// The first is for clients that accept anything, https://graphql.github.io/graphql-over-http/draft/#sec-Legacy-Watershed
const GRAPHQL_TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'] as const;

/** The media type of a GraphQL answer that a request prefers. RFC 9110 §12.5.1 lets a server disregard an Accept without any of its own. */
export const acceptedMediaType = chooseBy(
  'accept',
  GRAPHQL_TYPES[0] as string,
  (ctx) => ctx.accepts([...GRAPHQL_TYPES]) || GRAPHQL_TYPES[0],
);

const typeForBrowsers = chooseBy('accept', 'json', (ctx) =>
  ctx.accepts('application/json', 'application/graphql-response+json', 'text/html') === 'text/html' ? 'html' : 'json',
);

/** Whether a request would rather have HTML than JSON, as browsers do; who takes anything gets JSON. */
export function prefersHtml(ctx: Negotiated): boolean {
  return typeForBrowsers(ctx) === 'html';
}

/** A form in which an asset is kept. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** The smallest form of an asset that a request takes, RFC 9110 §12.5.3; without the header, the plain one. */
export const acceptedEncoding = chooseBy<Encoding>(
  'accept-encoding',
  'identity',
  (ctx) => (['br', 'gzip'] as const).find((coding) => ctx.acceptsEncodings(coding) === coding) ?? 'identity',
);
