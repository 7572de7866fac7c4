import Router from '@koa/router';
import { editDistance } from '../edit-distance.ts';
import { ApiError } from '../errors.ts';
import { cut, KEY_PREFIX, maskUrl, QUOTED_MAX } from '../masking.ts';
import type { AnswerHeaders, Call, OpenRoute, PathParams, Route } from './call.ts';
import { prefersHtml } from './negotiation.ts';

type Layer = Router['stack'][number];

type Place = ReturnType<typeof toPlace>;

/** The route of a call, or why there is none. */
type Found = {
  readonly params: PathParams;
  /** The header of every answer at a path whose route depends on more than the method. */
  readonly varies: AnswerHeaders | undefined;
} & (
  | { readonly route: Route; readonly open?: undefined; readonly refusal?: undefined; readonly needsKey: true }
  | { readonly route?: undefined; readonly open: OpenRoute; readonly refusal?: undefined; readonly needsKey: false }
  | { readonly route?: undefined; readonly open?: undefined; readonly refusal: ApiError; readonly needsKey: boolean }
);

const NO_PARAMS: PathParams = {};
const VARIES: AnswerHeaders = { Vary: 'Accept' };

/** What is served. */
export interface RouterParts {
  readonly routes: readonly Route[];
  /** THE list of routes that need no key. */
  readonly open: readonly OpenRoute[];
  /** Below this path every request needs a key, those for unknown paths and methods too. */
  readonly basePath: string;
  readonly notFound: (call: Call) => ApiError;
}

/**
 * Creates the function that finds the route of a call: @koa/router with all routes. What it finds for a path without parameters
 * is found once, at the start (docs/decisions/0020-own-routes.md). Throws Error when a method of a path is served twice.
 */
export function createRouter({ routes, open, basePath, notFound }: RouterParts): (call: Call) => Found {
  const router = new Router({ strict: true, sensitive: true });
  const fixed = new Map<string, Place>();
  const patterns: { readonly layer: Layer; readonly place: Place }[] = [];
  for (const path of new Set([...routes, ...open].map((route) => route.path))) {
    const place = toPlace(path, routes, open);
    const pattern = path.replaceAll(/[()[\]+?!:*\\]/g, '\\$&').replaceAll(/\{(\w+)\}/g, ':$1');
    router.all(pattern, () => {}); // it only matches: `serve` calls the handler
    const layer = router.stack.at(-1);
    if (layer && layer.paramNames.length > 0) patterns.push({ layer, place });
    else fixed.set(path, place);
  }

  return (call) => {
    const { path, method } = call;
    const known = fixed.get(path);
    const found = known ? undefined : patterns.find(({ layer }) => layer.match(path));
    const place = known ?? found?.place;
    const isKeyed = isBelow(basePath, path);
    const params = NO_PARAMS;
    if (place === undefined) return { params, needsKey: isKeyed, varies: undefined, refusal: notFound(call) };
    const { keyed, open: page } = place;
    const varies = page?.sharesPath ? VARIES : undefined;
    const isRead = method === 'GET' || method === 'HEAD';
    if (page && isRead && (!page.sharesPath || prefersHtml(call.headers)))
      return { params, needsKey: false, open: page, varies };
    const route = keyed.get(method);
    if (route)
      return { route, params: found?.layer.params(path, found.layer.captures(path)) ?? params, needsKey: true, varies };
    const Allow = (keyed.size > 0 ? [...keyed.keys()] : ['GET', 'HEAD']).sort().join(', ');
    const refusal = new ApiError('method_not_allowed', `${place.path} allows only ${Allow}.`, { headers: { Allow } });
    return { params, refusal, needsKey: isKeyed || keyed.size > 0, varies };
  };
}

/** Whether a path is `basePath`, or below it. */
export function isBelow(basePath: string, path: string): boolean {
  return path === basePath || path.startsWith(`${basePath}/`);
}

/** What is served at a path, whose parameters stand in braces: the routes that need a key, by their methods, and the open one. */
function toPlace(path: string, routes: readonly Route[], open: readonly OpenRoute[]) {
  const keyed = new Map<string, Route>();
  for (const route of routes.filter((candidate) => candidate.path === path)) {
    for (const method of route.methods) {
      if (keyed.has(method)) throw new Error(`${method} ${path} is served twice.`);
      keyed.set(method, route);
    }
  }
  return { path, keyed, open: open.find((candidate) => candidate.path === path) };
}

/**
 * Creates a function that gives ApiError `not_found`. Its message suggests the nearest of `paths` and names the API reference; clients
 * reach both below `publicPath`.
 */
export function createNotFound(paths: readonly string[], referencePath: string, publicPath = '') {
  return (call: Call): ApiError => {
    const path = maskUrl(call.path).replaceAll(`${KEY_PREFIX}***`, '***');
    const method = call.method === 'HEAD' ? 'GET' : call.method; // RFC 9110 §9.3.2: the same headers, Content-Length too
    const meant = nearest(path, paths);
    const suggestion = meant === undefined ? '' : ` Did you mean ${publicPath}${meant}?`;
    return new ApiError(
      'not_found',
      `${method} ${cut(path, QUOTED_MAX)} does not exist.${suggestion} Reference: ${publicPath}${referencePath}`,
    );
  };
}

/** The nearest of `paths` by typing errors: at most a third of its letters, or a missing prefix, which counts as one error. */
function nearest(path: string, paths: readonly string[]): string | undefined {
  if (path.length < 2 || path.length > QUOTED_MAX) return undefined;
  const [best] = paths
    .filter((known) => !known.includes('{'))
    .map((known) => ({ known, errors: known.endsWith(path) ? 1 : editDistance(path.toLowerCase(), known) }))
    .filter(({ known, errors }) => errors <= known.length / 3)
    .sort((a, b) => a.errors - b.errors);
  return best?.known;
}
