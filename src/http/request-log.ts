import type { Middleware } from 'koa';
import { maskUrl } from '../key-mask.ts';
import { type Logger, safely } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type {} from '../web/request-state.ts';
import { requestIdOf, STANDARD_HEADERS } from './refusal.ts';

/** https://www.w3.org/TR/trace-context/#traceparent-header, and what later versions may add. */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-|$)/;
/** How much of a path a line has, in characters. */
const PATH_MAX = 1024;
/** As nginx has it: the client went before its answer began. Koa's first word for every answer is 404. */
const CLIENT_GONE = 499;
const STANDARD = Object.entries(STANDARD_HEADERS);

/**
 * Gives each request its id, which a valid `X-Request-Id` brings along, and writes one line when it is answered. It calls
 * requests by `operations` only, so that nothing from outside becomes a label.
 */
export function requestLog(log: Logger, metrics: Metrics, operations: ReadonlySet<string>): Middleware {
  return (ctx, next) => {
    const startedAt = performance.now();
    const { method, headers } = ctx.req;
    const { path } = ctx;
    ctx.state.requestId = requestIdOf(headers);
    // Nothing can have been sent yet: without ctx.set, which looks whether it has.
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    for (const [name, value] of STANDARD) ctx.res.setHeader(name, value);
    const write = () => {
      const ms = performance.now() - startedAt;
      const { api = 'other', operation: named = '', requestId, keyId } = ctx.state;
      const operation = operations.has(named) ? named : 'unknown';
      const status = ctx.res.headersSent ? ctx.res.statusCode : CLIENT_GONE;
      metrics.countRequest(api, operation, status, ms / 1000);
      log.info(
        {
          requestId,
          keyId,
          api,
          operation,
          method,
          path: shorten(path),
          status,
          ms: Math.round(ms * 10) / 10,
          aborted: ctx.res.writableFinished ? undefined : true,
          traceparent: readTraceparent(headers.traceparent),
        },
        'request',
      );
    };
    // On close, not after next(): an answer that its client did not wait for is logged too.
    ctx.res.on('close', safely(log, write));
    return next();
  };
}

function shorten(path: string): string {
  return maskUrl(path).slice(0, PATH_MAX); // in this order: half of a key is not known as one
}

function readTraceparent(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && TRACEPARENT.test(sent) ? sent.slice(0, 64) : undefined;
}
