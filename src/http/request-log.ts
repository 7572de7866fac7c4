import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type {} from '../web/request-state.ts';

// Printable, no spaces, of bounded length: it goes into a header and into the log.
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;
/** How an API key begins: one that was pasted into the wrong place is neither logged nor sent back. */
const KEY = /petstore_\w+/g;
/** https://www.w3.org/TR/trace-context/#traceparent-header, and what later versions may add. */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/** Gives each request its id, which a valid `X-Request-Id` brings along, and writes one line when it is answered. */
export function requestLog(log: Logger, metrics: Metrics): Middleware {
  return (ctx, next) => {
    const startedAt = performance.now();
    const traceparent = ctx.get('traceparent');
    ctx.state.requestId = acceptRequestId(ctx.req.headers['x-request-id']) ?? randomUUID();
    // Nothing can have been sent yet: without ctx.set, which looks whether it has.
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    ctx.res.setHeader('Cache-Control', 'no-store');
    // On close, not after next(): an answer that its client did not wait for is logged too.
    ctx.res.once('close', () => {
      const ms = performance.now() - startedAt;
      const { face = 'other', operation = 'unknown', requestId, keyId } = ctx.state;
      const { method } = ctx.req;
      const { statusCode: status } = ctx.res;
      metrics.countRequest(face, operation, status, ms / 1000);
      log.info(
        {
          requestId,
          keyId,
          face,
          operation,
          method,
          path: ctx.path.replace(KEY, 'petstore_***'),
          status,
          ms: Math.round(ms * 10) / 10,
          aborted: ctx.res.writableFinished ? undefined : true,
          traceparent: TRACEPARENT.test(traceparent) ? traceparent.slice(0, 64) : undefined,
        },
        'request',
      );
    });
    return next();
  };
}

function acceptRequestId(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && REQUEST_ID.test(sent) && sent.search(KEY) < 0 ? sent : undefined;
}
