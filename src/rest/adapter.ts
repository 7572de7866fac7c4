import type { Context, Middleware } from 'koa';
import { createContext, requireWrite, type Stores } from '../schema/context.ts';
import type { Admission } from '../web/admission.ts';
import { otherMethod } from '../web/allowed-methods.ts';
import { baseUrl } from '../web/base-url.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { readJsonBody } from '../web/json-body.ts';
import { createAnswerWriter } from './answer-writer.ts';
import { createOpenApiText, OPENAPI_PATH } from './openapi.ts';
import type { Operation } from './operation.ts';
import { BASE_PATH, OPERATIONS } from './operations.ts';
import { explainRefusal, readRequest } from './request-reader.ts';
import { createRoutes, type Handler, type InPath } from './routes.ts';

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
  const { publicUrl, admission } = settings;
  const openApiText = createOpenApiText();
  const findPlace = createRoutes([
    ...OPERATIONS.map((operation) => ({
      method: operation.method,
      path: BASE_PATH + operation.path,
      handler: serve(operation, settings),
    })),
    {
      method: 'GET',
      path: OPENAPI_PATH,
      handler(ctx) {
        ctx.state.operation = 'openapi';
        ctx.set('Content-Type', JSON_TYPE);
        ctx.body = openApiText(baseUrl(ctx.req, publicUrl));
      },
    },
  ]);
  return (ctx, next) => {
    const { path, method } = ctx;
    if (!isBelowBase(path)) return next();
    ctx.state.face = 'rest';
    const place = findPlace(path);
    const handler = place?.handlers.get(method);
    if (place && handler) return handler(ctx, place.inPath);
    // Authentication comes first: who has no key does not learn which paths and methods exist.
    return admission.admit(ctx, () => {
      if (place) throw otherMethod(place.path, place.handlers.keys());
      return next();
    });
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

function isBelowBase(path: string): boolean {
  return path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
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
function serve(operation: Operation, settings: RestSettings): Handler {
  const { stores, bodyLimitBytes, publicUrl, noteDeprecatedUse, admission } = settings;
  const announceIt = announce(operation);
  const isDeprecated = operation.deprecations.length > 0;
  const writeAnswer = createAnswerWriter(operation, publicUrl);

  const answer = (ctx: Context, inPath: InPath, body: unknown) =>
    admission.atWork(ctx, async (deadline) => {
      const request = readRequest(operation, ctx.querystring, inPath, body);
      const context = createContext(stores, ctx.state, ctx.req.headers, deadline);
      let data: unknown;
      try {
        data = await operation.run(request.args, context);
      } catch (thrown) {
        throw explainRefusal(operation, request, thrown);
      }
      ctx.status = operation.success.status;
      ctx.set('Content-Type', JSON_TYPE);
      ctx.body = writeAnswer(ctx, data, request, context.reply);
    });

  const afterKey = (ctx: Context, inPath: InPath) => {
    if (isDeprecated) noteDeprecatedUse(ctx.state.keyId, operation.operationId);
    if (operation.isMutation) requireWrite(ctx.state);
    if (operation.body === undefined) return answer(ctx, inPath, undefined);
    return readJsonBody(ctx.req, bodyLimitBytes).then((body) => answer(ctx, inPath, body));
  };

  return (ctx, inPath) => {
    announceIt(ctx);
    return admission.admit(ctx, () => afterKey(ctx, inPath));
  };
}
