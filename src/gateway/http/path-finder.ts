import type { Context } from 'koa';
import { editDistance } from '../edit-distance.ts';
import { ApiError, QUOTED_MAX } from '../errors.ts';
import { KEY_PREFIX, maskUrl } from '../key-mask.ts';
import type { PathParams, Route } from '../web/route.ts';

interface FoundPath {
  /** The path of the routes, with parameters in braces. */
  readonly path: string;
  /** The routes by their methods. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly params: PathParams;
}

/**
 * Creates a function that finds the routes of a path. A path without parameters takes one look-up in a map; @koa/router
 * would try each route for every request (docs/decisions/0020-own-routes.md).
 */
export function createPathFinder(routes: readonly Route[]): (path: string) => FoundPath | undefined {
  const fixed = new Map<string, FoundPath>();
  const patterns: { pattern: RegExp; path: string; routes: ReadonlyMap<string, Route> }[] = [];
  for (const [path, ofPath] of Map.groupBy(routes, (route) => route.path)) {
    const byMethod = mapByMethod(ofPath);
    const pattern = path.replace(/[^\w/{}-]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    if (pattern.includes('(?<')) patterns.push({ pattern: new RegExp(`^${pattern}$`), path, routes: byMethod });
    else fixed.set(path, { path, routes: byMethod, params: {} });
  }
  return (path) => {
    const found = fixed.get(path);
    if (found !== undefined) return found;
    for (const { pattern, path: known, routes: byMethod } of patterns) {
      const groups = pattern.exec(path)?.groups;
      if (groups === undefined) continue;
      for (const [name, text] of Object.entries(groups)) groups[name] = decode(text);
      return { path: known, routes: byMethod, params: groups };
    }
    return undefined;
  };
}

function mapByMethod(routes: readonly Route[]): ReadonlyMap<string, Route> {
  const byMethod = new Map<string, Route>();
  for (const route of routes) {
    for (const method of route.methods) {
      if (byMethod.has(method)) throw new Error(`${method} ${route.path} is served twice.`);
      byMethod.set(method, route);
    }
  }
  return byMethod;
}

/** Decodes a path parameter; what is not percent-encoded UTF-8 is taken literally. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Creates a function that throws ApiError `not_found`. Its message suggests the nearest of `paths` and names the API reference. */
export function createNotFound(paths: readonly string[], referencePath: string): (ctx: Context) => never {
  return (ctx) => {
    const path = maskUrl(ctx.path).replaceAll(`${KEY_PREFIX}***`, '***');
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method; // RFC 9110 §9.3.2: the same headers, Content-Length too
    const quoted = path.length > QUOTED_MAX ? `${path.slice(0, QUOTED_MAX - 1)}…` : path;
    const meant = nearest(path, paths);
    const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new ApiError('not_found', `${method} ${quoted} does not exist.${suggestion} Reference: ${referencePath}`);
  };
}

/** The nearest of `paths` by typing errors: at most a third of its letters, or a missing prefix, which counts as one error. */
function nearest(path: string, paths: readonly string[]): string | undefined {
  if (path.length > QUOTED_MAX) return undefined;
  const nearest = paths
    .filter((known) => !known.includes('{'))
    .map((known) => ({ known, errors: known.endsWith(path) ? 1 : editDistance(path.toLowerCase(), known) }))
    .filter(({ known, errors }) => errors <= known.length / 3 && path.length > 1)
    .sort((a, b) => a.errors - b.errors);
  return nearest[0]?.known;
}

/** The refusal of a method at a path that serves `methods`. `path` is a route's path, or is masked: no API key is quoted. */
export function methodNotAllowed(path: string, methods: Iterable<string>): ApiError {
  const allow = [...new Set(methods)].sort().join(', ');
  return new ApiError('method_not_allowed', `${path} allows only ${allow}.`, { headers: { Allow: allow } });
}
