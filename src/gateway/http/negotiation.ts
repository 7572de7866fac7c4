import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import accepts from 'accepts';
import { createLruCache } from '../caches.ts';

/** In characters. A longer header is treated as absent, because parsing it takes time by the square of its length. */
const HEADER_MAX = 1024;
/** Choices are cached: most clients send the same header with every request, and parsing it costs as much as a body. */
const CACHED_MAX = 100;

/** Creates a function that makes a choice by a header of a request; `absent` is the choice without the header. */
function chooseBy<Choice extends string | boolean>(
  header: 'accept' | 'accept-encoding',
  absent: Choice,
  choose: (accepted: accepts.Accepts) => Choice,
): (headers: IncomingHttpHeaders) => Choice {
  const cache = createLruCache<Choice>(CACHED_MAX);
  return (headers) => {
    const sent = headers[header];
    if (sent === undefined || sent.length > HEADER_MAX) return absent;
    return cache.get(sent) ?? cache.set(sent, choose(accepts({ headers } as IncomingMessage))); // of which it reads the headers
  };
}

// The first one is for clients that accept any type, https://graphql.github.io/graphql-over-http/draft/#sec-Legacy-Watershed
const GRAPHQL_TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'] as const;

/** The media type of a GraphQL answer that a request prefers. An Accept without such a type is disregarded, RFC 9110 §12.5.1. */
export const acceptedMediaType = chooseBy<string>(
  'accept',
  GRAPHQL_TYPES[0],
  (accepted) => GRAPHQL_TYPES.find((type) => accepted.type([...GRAPHQL_TYPES]) === type) ?? GRAPHQL_TYPES[0],
);

/** Whether a request prefers HTML to JSON, as browsers do. A client that accepts any type gets JSON. */
export const prefersHtml = chooseBy<boolean>(
  'accept',
  false,
  (accepted) => accepted.type('application/json', 'application/graphql-response+json', 'text/html') === 'text/html',
);

/** A content coding in which assets are served. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** The smallest coding of an asset that a request accepts, RFC 9110 §12.5.3; `identity` without the header. */
export const acceptedEncoding = chooseBy<Encoding>(
  'accept-encoding',
  'identity',
  (accepted) => (['br', 'gzip'] as const).find((coding) => accepted.encoding(coding) === coding) ?? 'identity',
);
