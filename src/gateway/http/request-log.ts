import type { Middleware } from 'koa';
import { maskUrl } from '../key-mask.ts';
import { type Logger, safely } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type {} from '../web/request-state.ts';
import { requestIdOf, STANDARD_HEADERS } from './refusal.ts';

/** https://www.w3.org/TR/trace-context/#traceparent-header, with the further fields that later versions may add. */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-|$)/;
/** The logged length of a path, in characters. */
const PATH_MAX = 1024;
/** The client closed the connection before the answer began: the status that nginx logs. Koa's initial status is 404. */
const CLIENT_GONE = 499;
const STANDARD = Object.entries(STANDARD_HEADERS);

/** The names of the operations that are served. */
export interface Served {
  readonly operations: ReadonlySet<string>;
  readonly probes: ReadonlySet<string>;
}

/**
 * Koa middleware: gives each request its id and the standard headers, and logs and counts it when its answer is closed. An
 * operation that is not in `operations` is logged as `unknown`: no text from outside becomes a metric label. A probe that
 * does not fail is logged at level `debug`.
 */
export function requestLog(
  log: Logger,
  metrics: Pick<Metrics, 'countRequest'>,
  { operations, probes }: Served,
): Middleware {
  return (ctx, next) => {
    const startedAt = performance.now();
    const { method, headers } = ctx.req;
    const { path } = ctx;
    ctx.state.requestId = requestIdOf(headers);
    // Not by ctx.set, whose check that the headers are unsent costs time: here they always are.
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    for (const [name, value] of STANDARD) ctx.res.setHeader(name, value);
    const write = () => {
      const ms = performance.now() - startedAt;
      const { api = 'other', operation: named = '', requestId, clientAddress, keyId } = ctx.state;
      const operation = operations.has(named) ? named : 'unknown';
      const status = ctx.res.headersSent ? ctx.res.statusCode : CLIENT_GONE;
      metrics.countRequest(api, operation, status, ms / 1000);
      log[probes.has(operation) && status < 400 ? 'debug' : 'info'](
        {
          requestId,
          clientAddress,
          keyId,
          api,
          operation,
          method,
          path: maskUrl(path).slice(0, PATH_MAX), // masked first: a part of a key would not be recognized
          status,
          ms: Math.round(ms * 10) / 10,
          aborted: ctx.res.writableFinished ? undefined : true,
          traceparent: readTraceparent(headers.traceparent),
        },
        'request',
      );
    };
    // On close, not after next(): this also logs requests whose client went before the answer.
    ctx.res.on('close', safely(log, write));
    return next();
  };
}

function readTraceparent(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && TRACEPARENT.test(sent) ? sent.slice(0, 64) : undefined;
}
