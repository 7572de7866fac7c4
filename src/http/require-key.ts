import type { Middleware } from 'koa';
import type { Authenticate } from '../keys/authenticator.ts';
import type { Usage } from '../keys/usage.ts';

/** Lets a request with a valid key pass; throws ApiError `unauthorized` otherwise. */
export function requireKey(authenticate: Authenticate, usage: Usage): Middleware {
  return async (ctx, next) => {
    const key = await authenticate(ctx.req.headers.authorization);
    ctx.state.keyId = key.id;
    ctx.state.mayWrite = true;
    usage.noteUse(key.id);
    return next();
  };
}
