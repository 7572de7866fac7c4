import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { maskUrl } from '../key-mask.ts';
import { requireWrite } from '../schema/context.ts';
import { discardBody, readJsonBytes } from '../web/json-body.ts';
import { prefersHtml } from '../web/negotiation.ts';
import type { OpenRoute, PathParams, Route } from '../web/route.ts';
import type { Admission } from './admission.ts';
import { createPathFinder, methodNotAllowed } from './path-finder.ts';

interface FrameParts {
  /** The routes that need a key. */
  readonly routes: readonly Route[];
  /** THE list of routes that need no key. */
  readonly open: readonly OpenRoute[];
  /** Below this path, requests without a valid key get 401 even for unknown paths and methods. */
  readonly basePath: string;
  readonly admission: Admission;
  readonly bodyLimitBytes: number;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  /** Throws ApiError `not_found`. */
  readonly refuseNotFound: (ctx: Context) => never;
}

const NO_BODY = Buffer.alloc(0);

/** Closed by default: every handler outside the list of open routes runs after the checks of key, rate, right, body and share. */
export function createFrame(parts: FrameParts): Middleware {
  const { routes, open, basePath, admission, refuseNotFound } = parts;
  const findPath = createPathFinder(routes);
  const serve = createServe(parts);
  const router = createOpenRouter(open);
  const serveOpen = router.routes() as unknown as Middleware; // it sets the context properties that its type demands
  const isPage = createPageChoice(open);

  return (ctx, next) => {
    const { path, method } = ctx;
    const isBelowBase = path === basePath || path.startsWith(`${basePath}/`);
    if (isBelowBase) ctx.state.api = 'rest';
    const found = findPath(path);
    const asksForPage = isPage(ctx);
    const route = asksForPage ? undefined : found?.routes.get(method);
    if (!route?.takesBody && announcesBody(ctx.req)) discardBody(ctx.req);
    if (found && route) return serve(ctx, route, found.params);
    const openMatch = found && !asksForPage ? undefined : router.match(path, method);
    if (openMatch?.route) return serveOpen(ctx, next);
    const refuse = (): never => {
      if (found) throw methodNotAllowed(found.path, found.routes.keys());
      const methods = openMatch?.path.flatMap((known) => known.methods) ?? [];
      if (methods.length > 0) throw methodNotAllowed(maskUrl(path), methods);
      return refuseNotFound(ctx);
    };
    // Authentication comes first: without a key, no answer tells which paths and methods exist.
    return isBelowBase || found ? admission.admit(ctx, async () => refuse()) : refuse();
  };
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? headers['transfer-encoding']) !== undefined;
}

/** RFC 9110 §10.1.1: who waits for `100 Continue` sends no body in vain, because it comes after all that the header decides. */
function askForBody({ req: { headers, httpVersion }, res }: Context): void {
  const isAwaited = httpVersion === '1.1' && /\b100-continue\b/i.test(headers.expect ?? '');
  if (isAwaited && !res.headersSent) res.writeContinue();
}

/** The router of the open routes. Routes with a key are called much more often and have a faster one: docs/decisions/0020-own-routes.md */
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

/** Tells whether a request prefers the HTML page of a path that an API has too (`sharesPath`). */
function createPageChoice(open: readonly OpenRoute[]): (ctx: Context) => boolean {
  const shared = new Set(open.filter(({ sharesPath }) => sharesPath).map(({ path }) => path));
  return (ctx) => {
    if (!shared.has(ctx.path)) return false;
    ctx.vary('Accept');
    return (ctx.method === 'GET' || ctx.method === 'HEAD') && prefersHtml(ctx);
  };
}

/** Creates a function that runs the checks of a route in their order, and then its handler. */
function createServe({ admission, bodyLimitBytes, noteDeprecatedUse }: FrameParts) {
  return (ctx: Context, route: Route, params: PathParams): Promise<void> => {
    const { operation, headers, takesBody, checkHeaders, changes, isDeprecated, handle } = route;
    if (operation !== undefined) ctx.state.operation = operation;
    if (headers) ctx.set(headers);
    const handleWith = (body: Buffer) => admission.run(ctx, (admitted) => handle(ctx, { ...admitted, params, body }));
    return admission.admit(ctx, () => {
      if (isDeprecated) noteDeprecatedUse(ctx.state.keyId, operation ?? route.path);
      if (changes) {
        requireWrite(ctx.state);
        ctx.state.changes = true;
      }
      checkHeaders?.(ctx.req.headers);
      if (!takesBody) return handleWith(NO_BODY);
      return admission.holdBody(ctx, async () => {
        const body = await readJsonBytes(ctx.req, bodyLimitBytes, () => askForBody(ctx));
        await handleWith(body);
      });
    });
  };
}
