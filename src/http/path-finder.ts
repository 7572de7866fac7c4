import type { Context } from 'koa';
import { ApiError, QUOTED_MAX } from '../errors.ts';
import { KEY_PREFIX, maskUrl } from '../key-mask.ts';
import { typingErrors } from '../typing-errors.ts';
import type { InPath, Route } from '../web/route.ts';

/** The routes of a path by their methods, and the parameters in it. */
export interface Place {
  /** The path as its routes have it, with parameters in braces. */
  readonly path: string;
  readonly routes: ReadonlyMap<string, Route>;
  readonly inPath: InPath;
}

/**
 * Finds the routes of a path, as it stands in the request. A general router looks at each route, and at the Host, for every
 * request (docs/decisions/0081-own-routes.md).
 */
export function createPathFinder(routes: readonly Route[]): (path: string) => Place | undefined {
  const fixed = new Map<string, Place>();
  const patterns: { pattern: RegExp; path: string; routes: ReadonlyMap<string, Route> }[] = [];
  for (const [path, byMethod] of groupByPath(routes)) {
    const pattern = path.replace(/[^\w/{}-]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    if (pattern.includes('(?<')) patterns.push({ pattern: new RegExp(`^${pattern}$`), path, routes: byMethod });
    else fixed.set(path, { path, routes: byMethod, inPath: {} });
  }
  return (path) => {
    const place = fixed.get(path);
    if (place !== undefined) return place;
    for (const { pattern, path: known, routes: byMethod } of patterns) {
      const groups = pattern.exec(path)?.groups;
      if (groups !== undefined) return { path: known, routes: byMethod, inPath: decodeAll(groups) };
    }
    return undefined;
  };
}

function groupByPath(routes: readonly Route[]): Map<string, ReadonlyMap<string, Route>> {
  const byPath = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const byMethod = byPath.get(route.path) ?? new Map<string, Route>();
    for (const method of route.methods) {
      if (byMethod.has(method)) throw new Error(`${method} ${route.path} is served twice.`);
      byMethod.set(method, route);
    }
    byPath.set(route.path, byMethod);
  }
  return byPath;
}

function decodeAll(texts: InPath): InPath {
  const decoded: Record<string, string> = {};
  for (const name of Object.keys(texts)) decoded[name] = decode(texts[name] ?? '');
  return decoded;
}

function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no percent-encoding: it is what it is
  }
}

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

/** The refusal of a method at a path that has others. `path` is ours, with parameters in braces: not what a client sent. */
export function otherMethod(path: string, methods: Iterable<string>): ApiError {
  const allow = [...new Set(methods)].sort().join(', ');
  return new ApiError('method_not_allowed', `${path} allows only ${allow}.`, { headers: { Allow: allow } });
}
