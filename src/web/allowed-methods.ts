import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiError } from '../errors.ts';

/** ApiError `method_not_allowed` when a router knows the path, but not with this method. */
export function refuseOtherMethods(router: Router, ctx: Context): void {
  const methods = router.match(ctx.path, ctx.method).path.flatMap((route) => route.methods);
  if (methods.length > 0) throw otherMethod(ctx.path, methods);
}

/** The refusal of a method at a path that has others. `path` is ours, with parameters in braces: not what a client sent. */
export function otherMethod(path: string, methods: Iterable<string>): ApiError {
  const allow = [...new Set(methods)].sort().join(', ');
  return new ApiError('method_not_allowed', `${path} allows only ${allow}.`, { headers: { Allow: allow } });
}
