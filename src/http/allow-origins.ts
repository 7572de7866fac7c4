import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Config } from '../config.ts';

/** How long a browser may keep a preflight's answer, in seconds: no browser keeps it longer. */
const PREFLIGHT_MAX_AGE_S = 7200;

// Beside the few that every script may read, https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name
const READABLE_HEADERS = [
  'Link',
  'Location',
  'X-Request-Id',
  'Deprecation',
  'Sunset',
  'Retry-After',
  'Idempotency-Replayed',
];
const RATE_LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'];

/** CORS for both APIs. Keys travel in a header, never in a cookie: credentials stay off, and `*` is safe. */
export function allowOrigins(
  { corsOrigins: origins, rateLimit }: Pick<Config, 'corsOrigins' | 'rateLimit'>,
  methods: readonly string[],
): Middleware {
  const allow = cors({
    // An empty answer: no header at all, and the browser refuses.
    origin: (ctx) => (origins === '*' ? '*' : (origins.find((origin) => origin === ctx.get('Origin')) ?? '')),
    allowMethods: [...methods],
    exposeHeaders: rateLimit === undefined ? READABLE_HEADERS : [...READABLE_HEADERS, ...RATE_LIMIT_HEADERS],
    maxAge: PREFLIGHT_MAX_AGE_S,
    // A refusal has them by ctx.set. Written into an error, they would go to everybody whom that one refuses.
    keepHeadersOnError: false,
  });
  // Where every origin is welcome, a request without one gets an answer that does not depend on it.
  return (ctx, next) => (origins === '*' && ctx.req.headers.origin === undefined ? next() : allow(ctx, next));
}
