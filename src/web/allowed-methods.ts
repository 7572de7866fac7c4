import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiError } from '../errors.ts';

/** ApiError `method_not_allowed` when a router knows the path, but not with this method. */
export function refuseOtherMethods(router: Router, ctx: Context): void {
  const methods = router.match(ctx.path, ctx.method).path.flatMap((route) => route.methods);
  if (methods.length === 0) return;
  const allow = [...new Set(methods)].sort().join(', ');
  throw new ApiError('method_not_allowed', `${ctx.path} allows only ${allow}.`, { headers: { Allow: allow } });
}
