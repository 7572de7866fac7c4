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
