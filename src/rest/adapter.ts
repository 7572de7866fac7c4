import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { createContext, requireWrite, type Stores } from '../schema/context.ts';
import type { Admission } from '../web/admission.ts';
import { refuseOtherMethods } from '../web/allowed-methods.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { readJsonBody } from '../web/json-body.ts';
import { createAnswerWriter } from './answer-writer.ts';
import { createOpenApiText, OPENAPI_PATH } from './openapi.ts';
import type { Operation } from './operation.ts';
import { BASE_PATH, OPERATIONS } from './operations.ts';
import { explainRefusal, readRequest } from './request-reader.ts';

/** What the adapter is given: the service below it, and who may pass. */
export interface RestSettings {
  readonly stores: Stores;
  readonly bodyLimitBytes: number;
  readonly publicUrl: string | undefined;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  readonly admission: Admission;
}

/** The REST API: everything under `/v1`; other paths go on to the next middleware. */
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
  const openApiText = createOpenApiText();
  router.get(OPENAPI_PATH.slice(BASE_PATH.length), (ctx) => {
    ctx.set('Content-Type', JSON_TYPE);
    ctx.body = openApiText(baseAddress(ctx, settings.publicUrl));
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

/** The address that absolute links begin with, without a trailing slash. */
function baseAddress(ctx: Context, publicUrl: string | undefined): string {
  return publicUrl ?? `${ctx.protocol}://${ctx.host}`;
}

/** Names the operation for log and metrics; a deprecated one says so on every answer, refusals too. */
function announce({ operationId, deprecations: [deprecation] }: Operation): (ctx: Context) => void {
  const headers = deprecation && deprecationHeaders(deprecation);
  return (ctx) => {
    ctx.state.operation = operationId;
    if (headers) ctx.set(headers);
  };
}

/** A row of the table at work: request to arguments, resolver, what it gives to an answer. */
function serve(operation: Operation, settings: RestSettings): (ctx: Context) => Promise<void> {
  const { stores, bodyLimitBytes, publicUrl, noteDeprecatedUse, admission } = settings;
  const isDeprecated = operation.deprecations.length > 0;
  const writeAnswer = createAnswerWriter(operation, (ctx) => baseAddress(ctx, publicUrl));

  const answer = (ctx: Context, body: unknown) =>
    admission.atWork(ctx, async (deadline) => {
      const request = readRequest(operation, ctx.querystring, pathParameters(ctx), body);
      const context = createContext(stores, ctx.state, ctx.req.headers, deadline);
      let data: unknown;
      try {
        data = await operation.run(request.args, context);
      } catch (thrown) {
        throw explainRefusal(operation, request, thrown);
      }
      ctx.status = operation.success.status;
      ctx.res.setHeader('Content-Type', JSON_TYPE);
      ctx.body = writeAnswer(ctx, data, request, context.reply);
    });

  return (ctx) => {
    if (isDeprecated) noteDeprecatedUse(ctx.state.keyId, operation.operationId);
    if (operation.isMutation) requireWrite(ctx.state);
    if (operation.body === undefined) return answer(ctx, undefined);
    return readJsonBody(ctx.req, bodyLimitBytes).then((body) => answer(ctx, body));
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
