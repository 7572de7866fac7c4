import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { compile } from '../schema/compile.ts';
import { createContext, type Context as ResolverContext, requireWrite } from '../schema/context.ts';
import type { Admission } from '../web/admission.ts';
import { refuseOtherMethods } from '../web/allowed-methods.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { readJsonBody } from '../web/json-body.ts';
import { OPENAPI_PATH, openApiDocument } from './openapi.ts';
import { BASE_PATH, OPERATIONS, type Operation } from './operations.ts';

/** What the adapter is given: the service below it, and who may pass. */
export interface RestSettings {
  readonly pets: ResolverContext['pets'];
  readonly bodyLimitBytes: number;
  readonly publicUrl: string | undefined;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  readonly admission: Admission;
}

/**
 * The REST face: everything under `/v1`; other paths go on to the next middleware. The documents of the
 * table are compiled here: one that does not fit the schema stops the start.
 */
export function createRestAdapter(settings: RestSettings): Middleware {
  const router = new Router({ prefix: BASE_PATH, strict: true, sensitive: true });
  for (const operation of OPERATIONS) {
    const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
    const announceIt = announce(operation);
    const serveIt = serve(operation, settings);
    // One middleware: the router would compose several anew for each request.
    router.register(path, [operation.method], (ctx) => {
      announceIt(ctx);
      return settings.admission.admit(ctx, () => serveIt(ctx));
    });
  }
  router.get(OPENAPI_PATH.slice(BASE_PATH.length), (ctx) => {
    ctx.set('Content-Type', JSON_TYPE);
    ctx.body = JSON.stringify(openApiDocument(settings.publicUrl ?? `${ctx.protocol}://${ctx.host}`));
  });
  const routes = router.routes();
  const refuse = refuseUnknown(router, settings.admission.admit);
  return (ctx, next) => {
    if (!isBelowBase(ctx.path)) return next();
    ctx.state.face = 'rest';
    return routes(ctx as never, () => refuse(ctx, next)); // Router narrows Context to its own
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

function isBelowBase(path: string): boolean {
  return path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
}

/** Names the operation for log and metrics; a deprecated one says so on every answer, refusals too. */
function announce({ operationId, document }: Operation): (ctx: Context) => void {
  const [deprecation] = compile(document).deprecations;
  const headers = deprecation ? deprecationHeaders(deprecation) : {};
  return (ctx) => {
    ctx.state.operation = operationId;
    ctx.set(headers);
  };
}

/** A row of the table at work: request to variables, document to data, data to answer. */
function serve(
  operation: Operation,
  { pets, bodyLimitBytes, noteDeprecatedUse, admission }: RestSettings,
): (ctx: Context) => Promise<void> {
  const compiled = compile(operation.document);
  const isDeprecated = compiled.deprecations.length > 0;
  return async (ctx) => {
    if (isDeprecated) noteDeprecatedUse(ctx.state.keyId, operation.operationId);
    if (compiled.isMutation) requireWrite(ctx.state);
    const body = operation.hasBody ? await readJsonBody(ctx.req, bodyLimitBytes) : undefined;
    const request = { query: new URLSearchParams(ctx.querystring), path: pathParameters(ctx), body };
    await admission.atWork(ctx, async (deadline) => {
      const context = createContext(pets, ctx.state, ctx.req.headers, deadline);
      const data = await compiled.run(operation.variables(request), context);
      const answer = operation.answer(data, context.reply, request);
      ctx.status = operation.success.status;
      ctx.set('Content-Type', JSON_TYPE);
      ctx.set(answer.headers ?? {});
      ctx.body = answer.body;
    });
  };
}

function pathParameters(ctx: Context): Record<string, string> {
  return ctx.params ?? {}; // set by the router
}

/** Authentication comes first: who has no key does not learn which paths and methods exist. */
function refuseUnknown(router: Router, admit: Middleware): Middleware {
  return (ctx, next) =>
    admit(ctx, () => {
      refuseOtherMethods(router, ctx);
      return next();
    });
}
