import type { Middleware } from 'koa';
import { type ApiError, toApiError } from '../errors.ts';
import { type Logger, logFault } from '../log.ts';

/** An ApiError as the Error of the API description: `{"code":…,"message":…,"status":…}`. */
export function writeError({ code, message, status }: ApiError): string {
  return JSON.stringify({ code, message, status });
}

/** Wraps all below: whatever is thrown becomes an Error body, and faults of ours are logged with their cause. */
export function errorBody(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      logFault(log, error, ctx.state.requestId);
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.set('Content-Type', 'application/json; charset=utf-8');
      ctx.body = writeError(error);
    }
  };
}
