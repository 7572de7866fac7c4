import type { Context } from 'koa';

/** The parameters in a path, decoded. */
export type InPath = Readonly<Record<string, string>>;

/** What serves a method at a path. */
export type Handler = (ctx: Context, inPath: InPath) => unknown;

/** The methods of a path, and the parameters in it. */
export interface Place {
  /** The path as the table has it, with its parameters in braces. */
  readonly path: string;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly inPath: InPath;
}

/** A path with parameters in braces, what is served there, and by which method. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly handler: Handler;
}

/**
 * Finds what is served at a path, as it stands in the request: case and a slash at its end count. HEAD is served as GET.
 * A general router looks at each route, and at the Host, for every request.
 */
export function createRoutes(routes: readonly Route[]): (path: string) => Place | undefined {
  const fixed = new Map<string, Place>();
  const patterns: { pattern: RegExp; path: string; handlers: ReadonlyMap<string, Handler> }[] = [];
  for (const [path, handlers] of handlersByPath(routes)) {
    const pattern = path.replace(/[^\w/{}-]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    if (pattern.includes('(?<')) patterns.push({ pattern: new RegExp(`^${pattern}$`), path, handlers });
    else fixed.set(path, { path, handlers, inPath: {} });
  }
  return (path) => {
    const place = fixed.get(path);
    if (place !== undefined) return place;
    for (const { pattern, path: known, handlers } of patterns) {
      const groups = pattern.exec(path)?.groups;
      if (groups !== undefined) return { path: known, handlers, inPath: decodeAll(groups) };
    }
    return undefined;
  };
}

function handlersByPath(routes: readonly Route[]): Map<string, ReadonlyMap<string, Handler>> {
  const byPath = new Map<string, Map<string, Handler>>();
  for (const { method, path, handler } of routes) {
    const handlers = byPath.get(path) ?? new Map<string, Handler>();
    for (const served of method === 'GET' ? ['GET', 'HEAD'] : [method]) handlers.set(served, handler);
    byPath.set(path, handlers);
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
