import type { Context } from 'koa';
import { createLruCache } from '../lru-cache.ts';

/** In characters. A longer header is treated as absent, because parsing it takes time by the square of its length. */
const HEADER_MAX = 1024;
/** Choices are cached: most clients send the same header with every request, and parsing it costs as much as a body. */
const CACHED_MAX = 100;

type Negotiated = Pick<Context, 'headers' | 'accepts' | 'acceptsEncodings'>;

/** Creates a function that makes a choice by a header of a request; `absent` is the choice without the header. */
function chooseBy<Choice extends string | boolean>(
  header: 'accept' | 'accept-encoding',
  absent: Choice,
  choose: (ctx: Negotiated) => Choice,
): (ctx: Negotiated) => Choice {
  const cache = createLruCache<Choice>(CACHED_MAX);
  return (ctx) => {
    const sent = ctx.headers[header];
    if (sent === undefined || sent.length > HEADER_MAX) return absent;
    return cache.get(sent) ?? cache.set(sent, choose(ctx));
  };
}

// The first one is for clients that accept any type, https://graphql.github.io/graphql-over-http/draft/#sec-Legacy-Watershed
const GRAPHQL_TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'] as const;

/** The media type of a GraphQL answer that a request prefers. An Accept without such a type is disregarded, RFC 9110 §12.5.1. */
export const acceptedMediaType = chooseBy<string>(
  'accept',
  GRAPHQL_TYPES[0],
  (ctx) => ctx.accepts([...GRAPHQL_TYPES]) || GRAPHQL_TYPES[0],
);

/** Whether a request prefers HTML to JSON, as browsers do. A client that accepts any type gets JSON. */
export const prefersHtml = chooseBy<boolean>(
  'accept',
  false,
  (ctx) => ctx.accepts('application/json', 'application/graphql-response+json', 'text/html') === 'text/html',
);

/** A content coding in which assets are served. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** The smallest coding of an asset that a request accepts, RFC 9110 §12.5.3; `identity` without the header. */
export const acceptedEncoding = chooseBy<Encoding>(
  'accept-encoding',
  'identity',
  (ctx) => (['br', 'gzip'] as const).find((coding) => ctx.acceptsEncodings(coding) === coding) ?? 'identity',
);
