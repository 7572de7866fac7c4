import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { maskUrl } from '../key-mask.ts';
import { requireWrite } from '../schema/context.ts';
import { letBodyGo, readJsonBytes } from '../web/json-body.ts';
import { prefersHtml } from '../web/negotiation.ts';
import type { InPath, OpenRoute, Route } from '../web/route.ts';
import type { Admission } from './admission.ts';
import { createPathFinder, otherMethod } from './path-finder.ts';

/** What is served, and who may have it. */
export interface FrameParts {
  /** What needs a key. */
  readonly routes: readonly Route[];
  /** What needs none: THE list of what is open. */
  readonly open: readonly OpenRoute[];
  /** Below this path, who has no key does not learn which paths and methods exist. */
  readonly basePath: string;
  readonly admission: Admission;
  readonly bodyLimitBytes: number;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  /** Throws the refusal of a path that nobody serves. */
  readonly refuseUnknown: (ctx: Context) => never;
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const NO_BODY = Buffer.alloc(0);

/** Closed by default: key, rate, right, body, share and deadline come before any handler, unless it is in the list of what is open. */
export function createFrame(parts: FrameParts): Middleware {
  const { routes, open, basePath, admission, refuseUnknown } = parts;
  const findPlace = createPathFinder(routes);
  const serve = createServe(parts);
  const router = createOpenRouter(open);
  const serveOpen = router.routes() as unknown as Middleware; // what its type asks of the context, it puts there itself
  const isPage = createPageChoice(open);

  return (ctx, next) => {
    const { path, method } = ctx;
    const isBelowBase = path === basePath || path.startsWith(`${basePath}/`);
    if (isBelowBase) ctx.state.api = 'rest';
    const place = findPlace(path);
    const asksForPage = isPage(ctx);
    const route = asksForPage ? undefined : place?.routes.get(method);
    if (!route?.takesBody && announcesBody(ctx.req)) letBodyGo(ctx.req);
    if (place && route) return serve(ctx, route, place.inPath);
    const opened = place && !asksForPage ? undefined : router.match(path, method);
    if (opened?.route) return serveOpen(ctx, next);
    const refuse = (): never => {
      if (place) throw otherMethod(place.path, place.routes.keys());
      const methods = opened?.path.flatMap((known) => known.methods) ?? [];
      if (methods.length > 0) throw otherMethod(maskUrl(path), methods);
      return refuseUnknown(ctx);
    };
    // Authentication comes first: who has no key does not learn which paths and methods exist.
    return isBelowBase || place ? admission.admit(ctx, async () => refuse()) : refuse();
  };
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? headers['transfer-encoding']) !== undefined;
}

/** The router of what is open. What needs a key is asked for much more often, and is found by a map: docs/decisions/0081-own-routes.md */
function createOpenRouter(open: readonly OpenRoute[]): Router {
  const router = new Router({ strict: true, sensitive: true });
  for (const { path, operation, handle } of open) {
    router.get(path, (ctx) => {
      ctx.state.operation = operation;
      return handle(ctx);
    });
  }
  return router;
}

/** Tells whether a request is for a page whose path another route has, too: it reads, and would rather have HTML. */
function createPageChoice(open: readonly OpenRoute[]): (ctx: Context) => boolean {
  const shared = new Set(open.filter(({ sharesPath }) => sharesPath).map(({ path }) => path));
  return (ctx) => {
    if (!shared.has(ctx.path)) return false;
    ctx.vary('Accept');
    return READING.has(ctx.method) && prefersHtml(ctx);
  };
}

/** Serves a route: all that stands between a request and its handler. */
function createServe({ admission, bodyLimitBytes, noteDeprecatedUse }: FrameParts) {
  return (ctx: Context, route: Route, inPath: InPath): Promise<void> => {
    const { operation, headers, takesBody, changes, isDeprecated, handle } = route;
    if (operation !== undefined) ctx.state.operation = operation;
    if (headers) ctx.set(headers);
    const handleWith = (body: Buffer) => admission.run(ctx, (admitted) => handle(ctx, { ...admitted, inPath, body }));
    return admission.admit(ctx, () => {
      if (isDeprecated) noteDeprecatedUse(ctx.state.keyId, operation ?? route.path);
      if (changes) {
        requireWrite(ctx.state);
        ctx.state.changes = true;
      }
      if (!takesBody) return handleWith(NO_BODY);
      return admission.holdBody(ctx, async () => handleWith(await readJsonBytes(ctx.req, bodyLimitBytes)));
    });
  };
}
