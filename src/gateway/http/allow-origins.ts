import type { IncomingHttpHeaders } from 'node:http';
import cors from '@koa/cors';
import type { Config } from '../config.ts';

/** How long a browser may cache a preflight's answer, in seconds: the most that Chromium allows. */
const PREFLIGHT_MAX_AGE_S = 7200;

// Besides the headers that every script may read, https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name
const READABLE_HEADERS = 'Link,Location,X-Request-Id,Deprecation,Sunset,Retry-After,Idempotency-Replayed';

/** CORS for both APIs. Keys are sent in a header, never in a cookie: so credentials stay off, and `*` is safe. */
export function allowOrigins(
  { corsOrigins: origins, rateLimit }: Pick<Config, 'corsOrigins' | 'rateLimit'>,
  methods: readonly string[],
) {
  return {
    /** Whether an answer depends on CORS. With `*`, one to a request without Origin has no CORS headers and no Vary. */
    concerns: (headers: IncomingHttpHeaders): boolean => origins !== '*' || headers.origin !== undefined,
    /** Answers preflights; sets the headers of other answers before it calls `next`. */
    middleware: cors({
      // For an empty string, no header is set, and the browser refuses the answer.
      origin: (ctx) => (origins === '*' ? '*' : (origins.find((origin) => origin === ctx.get('Origin')) ?? '')),
      allowMethods: [...methods],
      exposeHeaders: rateLimit ? `${READABLE_HEADERS},RateLimit-Policy,RateLimit` : READABLE_HEADERS,
      maxAge: PREFLIGHT_MAX_AGE_S,
      keepHeadersOnError: false, // errors are answers here
    }),
  };
}
