import type { GraphQLSchema } from 'graphql';
import type { Context } from 'koa';
import { LIST_LIMIT } from '../schema/builder.ts';
import { createCompiler } from '../schema/compile.ts';
import { createContext } from '../schema/context.ts';
import type { Stores } from '../store/store.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { parseJsonBytes } from '../web/json-body.ts';
import type { AdmittedRequest, Route } from '../web/route.ts';
import { createAnswerWriter } from './answer-writer.ts';
import { createOpenApi, type OpenApi, type OpenApiParts } from './openapi.ts';
import { compileRow, type Operation, type Row } from './operation.ts';
import { explainRefusal, type RestRequest, readRequest } from './request-reader.ts';

/** What the REST API is made of: what it describes, and the service below it. */
export interface RestParts {
  readonly service: Omit<OpenApiParts, 'operations' | 'resources'> & {
    readonly resources: readonly (OpenApiParts['resources'][number] & { readonly rows: readonly Row[] })[];
  };
  readonly schema: GraphQLSchema;
  readonly stores: Stores;
  readonly publicUrl: string | undefined;
}

/** The REST API of a service. */
export interface RestApi extends OpenApi {
  /** One for each row of the table. */
  readonly routes: readonly Route[];
  /** THE TABLE, with all that is derived from its documents. */
  readonly operations: readonly Operation[];
}

/** Makes the REST API of the rows of a service. Throws an error that stops the start when a row does not fit the schema. */
export function createRestApi({ service, schema, stores, publicUrl }: RestParts): RestApi {
  const compile = createCompiler({ schema, deprecations: service.deprecations });
  const operations = service.resources.flatMap(({ table, rows }) =>
    rows.map((row) => compileRow(row, table.name, compile)),
  );
  const { basePath } = service;
  return {
    ...createOpenApi({ ...service, operations }),
    operations,
    routes: operations.map((operation) => toRoute(operation, { basePath, stores, publicUrl })),
  };
}

/** A row of the table at work: request to arguments, resolver, what it gives to an answer. */
function toRoute(
  operation: Operation,
  { basePath, stores, publicUrl }: Pick<RestParts, 'stores' | 'publicUrl'> & { readonly basePath: string },
): Route {
  const { method, path, operationId, body, isMutation, deprecations, success, hasContent } = operation;
  const [deprecation] = deprecations;
  const writeAnswer = createAnswerWriter(operation, basePath, publicUrl);
  const sizeOf = ({ args }: RestRequest): number =>
    operation.isPaged ? Math.min(Number(args.limit), LIST_LIMIT.most) : 1;

  const handle = async (ctx: Context, { inPath, body: bytes, deadline, reserve }: AdmittedRequest): Promise<void> => {
    const request = readRequest(operation, ctx.querystring, inPath, body && parseJsonBytes(bytes));
    const room = reserve(sizeOf(request));
    if (room !== undefined) await room;
    const context = createContext(stores, ctx.state, ctx.req.headers, deadline);
    let data: unknown;
    try {
      data = await operation.run(request.args, context);
    } catch (thrown) {
      throw explainRefusal(operation, request, thrown);
    }
    if (ctx.headerSent) return; // it was refused meanwhile
    ctx.status = success.status;
    const text = writeAnswer(ctx, data, request, context.reply);
    if (!hasContent) return;
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
    ctx.body = text;
  };

  return {
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
    path: basePath + path,
    operation: operationId,
    takesBody: body !== undefined,
    changes: isMutation,
    isDeprecated: deprecation !== undefined,
    ...(deprecation && { headers: deprecationHeaders(deprecation) }),
    handle,
  };
}
