import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Config } from '../config.ts';

/** How long a browser may cache a preflight's answer, in seconds: the most that Chromium allows. */
const PREFLIGHT_MAX_AGE_S = 7200;

// Besides the headers that every script may read, https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name
const READABLE_HEADERS = 'Link,Location,X-Request-Id,Deprecation,Sunset,Retry-After,Idempotency-Replayed';

/** CORS for both APIs. Keys are sent in a header, never in a cookie: so credentials stay off, and `*` is safe. */
export function allowOrigins(
  { corsOrigins: origins, rateLimit }: Pick<Config, 'corsOrigins' | 'rateLimit'>,
  methods: readonly string[],
): Middleware {
  const allow = cors({
    // For an empty string, no header is set, and the browser refuses the answer.
    origin: (ctx) => (origins === '*' ? '*' : (origins.find((origin) => origin === ctx.get('Origin')) ?? '')),
    allowMethods: [...methods],
    exposeHeaders: rateLimit ? `${READABLE_HEADERS},RateLimit-Policy,RateLimit` : READABLE_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_S,
    // Refusals get the headers by ctx.set. In `error.headers` they would leak into other requests that share the error.
    keepHeadersOnError: false,
  });
  // With `*`, an answer to a request without Origin does not depend on Origin: no CORS headers, no Vary.
  return (ctx, next) => (origins === '*' && ctx.req.headers.origin === undefined ? next() : allow(ctx, next));
}
