import type { Context } from 'koa';
import { ApiError, QUOTED_MAX } from '../errors.ts';
import { KEY_PREFIX, maskUrl } from '../key-mask.ts';

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
    .map((known) => ({ known, edits: known.endsWith(path) ? 1 : countEdits(path.toLowerCase(), known) }))
    .filter(({ known, edits }) => edits <= known.length / 3 && path.length > 1)
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.known;
}

/** The Levenshtein distance: letters to put in, take out or exchange. Its work is the product of both lengths. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let index = 1; index <= to.length; index++) {
      const exchanged = (row[index - 1] ?? 0) + (from[line - 1] === to[index - 1] ? 0 : 1);
      next.push(Math.min(exchanged, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
