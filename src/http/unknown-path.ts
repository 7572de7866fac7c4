import type { Context } from 'koa';
import { ApiError, QUOTED_MAX } from '../errors.ts';
import { KEY_PREFIX, maskUrl } from '../key-mask.ts';
import { typingErrors } from '../typing-errors.ts';

/** Gives what throws ApiError `not_found`, with the one of `paths` that may be meant, and where the reference is. */
export function createUnknownPath(paths: readonly string[], referencePath: string): (ctx: Context) => never {
  return (ctx) => {
    const path = maskUrl(ctx.path).replaceAll(`${KEY_PREFIX}***`, '***');
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method; // RFC 9110 §9.3.2: the same answer, to its length
    const quoted = path.length > QUOTED_MAX ? `${path.slice(0, QUOTED_MAX - 1)}…` : path;
    const meant = nearest(path, paths);
    const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new ApiError('not_found', `${method} ${quoted} does not exist.${suggestion} Reference: ${referencePath}`);
  };
}

/** The path of which at most a third of the letters differ, or whose prefix is missing; the nearest of several. */
function nearest(path: string, paths: readonly string[]): string | undefined {
  if (path.length > QUOTED_MAX) return undefined;
  const near = paths
    .filter((known) => !known.includes('{'))
    .map((known) => ({ known, errors: known.endsWith(path) ? 1 : typingErrors(path.toLowerCase(), known) }))
    .filter(({ known, errors }) => errors <= known.length / 3 && path.length > 1)
    .sort((a, b) => a.errors - b.errors);
  return near[0]?.known;
}
