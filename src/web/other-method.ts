import { ApiError } from '../errors.ts';

/** The refusal of a method at a path that has others. `path` is ours, with parameters in braces: not what a client sent. */
export function otherMethod(path: string, methods: Iterable<string>): ApiError {
  const allow = [...new Set(methods)].sort().join(', ');
  return new ApiError('method_not_allowed', `${path} allows only ${allow}.`, { headers: { Allow: allow } });
}
