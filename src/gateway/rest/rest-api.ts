import { stringify } from 'node:querystring';
import type { GraphQLSchema } from 'graphql';
import type { Context } from 'koa';
import { deprecationHeaders } from '../deprecations.ts';
import { LIST_LIMIT } from '../schema/builder.ts';
import { createContext, readIdempotencyKey } from '../schema/context.ts';
import type { Stores } from '../store/store.ts';
import { parseJsonBytes } from '../web/json-body.ts';
import type { AdmittedRequest, Route } from '../web/route.ts';
import { createCompiler } from './compile.ts';
import { createOpenApi } from './openapi.ts';
import { ERROR_SCHEMA } from './openapi-components.ts';
import { CURSOR, compileOperationRow, type Operation, type RestService } from './operation.ts';
import type { Json, Schemas } from './representation.ts';
import { explainError, type RestRequest, readRequest, refuseNotFound } from './request-reader.ts';

/**
 * Creates the REST API of a service: operations, routes, and the function that makes the OpenAPI document. Clients reach it below `publicPath`.
 * Throws Error, which stops the start, when a row does not fit the schema, or two rows do not go together.
 */
export function createRestApi(service: RestService, schema: GraphQLSchema, stores: Stores, publicPath = '') {
  const compile = createCompiler(schema, service.deprecations);
  const schemas: Schemas = { Error: ERROR_SCHEMA };
  const operations = service.resources.flatMap(({ table, operationRows }) =>
    operationRows.map((row) => compileOperationRow(row, table.name, compile, schemas)),
  );
  requireConsistent(operations);
  return {
    operations,
    routes: operations.map((operation) => toRoute(operation, service.basePath, stores, publicPath)),
    openApiPath: `${service.basePath}/openapi.json`,
    openApiDocument: createOpenApi(service, operations, schemas, publicPath),
  };
}

/** Throws Error when two operations have one id, or nobody serves the path that a `Location` tells. */
function requireConsistent(operations: readonly Operation[]): void {
  const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
  const served = operations.filter(({ method }) => method === 'GET').map(({ path }) => shapeOf(path));
  const ids = new Set<string>();
  for (const { operationId, success } of operations) {
    if (ids.has(operationId)) throw new Error(`${operationId}: Two operations have this operationId.`);
    ids.add(operationId);
    if (success.location !== undefined && !served.includes(shapeOf(success.location)))
      throw new Error(`${operationId}: No operation gets ${success.location}, which its Location tells.`);
  }
}

/** The route of an operation. Its handler reads the arguments, runs the operation and writes the answer. */
function toRoute(operation: Operation, basePath: string, stores: Stores, publicPath: string): Route {
  const { method, body, isMutation, isPaged, success, answer, isNullable } = operation;
  const [deprecation] = operation.deprecations;
  const setHeaders = headerWriter(operation, publicPath + basePath);

  const handle = async (ctx: Context, { params, body: bytes, deadline, reserve }: AdmittedRequest): Promise<void> => {
    const request = readRequest(operation, ctx.querystring, params, body && parseJsonBytes(bytes));
    const reserved = reserve(isPaged ? validPageSize(Number(request.args.limit)) : 1);
    if (reserved !== undefined) await reserved;
    const context = createContext(stores, ctx.state, ctx.req.headers, deadline);
    let value: unknown;
    let text: string | undefined;
    try {
      value = await operation.resolve(request.args, context);
      if (isNullable && (value === null || value === undefined)) refuseNotFound(operation);
      text = answer && (await operation.write(value, context));
    } catch (thrown) {
      throw explainError(operation, request, thrown);
    }
    if (ctx.headerSent) return; // the server has refused the request meanwhile
    ctx.status = success.status;
    setHeaders(ctx, value, context.listsWithNextPage.includes(value) ? request : undefined);
    if (context.isReplayed) ctx.set('Idempotency-Replayed', 'true');
    if (text === undefined) return;
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
    ctx.body = text;
  };

  return {
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
    path: basePath + operation.path,
    operation: operation.operationId,
    takesBody: body !== undefined,
    ...(operation.isIdempotent && { checkHeaders: readIdempotencyKey }),
    changes: isMutation,
    isDeprecated: deprecation !== undefined,
    ...(deprecation && { headers: deprecationHeaders(deprecation, publicPath) }),
    handle,
  };
}

/** The page size; 0 for an invalid one: its request is refused by the schema's rules before anything is read. */
function validPageSize(limit: number): number {
  return limit >= LIST_LIMIT.min && limit <= LIST_LIMIT.max ? limit : 0;
}

/** Creates a function that sets `Location`, and `Link` if there is a next page: then `paged` is the request of this page. */
function headerWriter({ isPaged, cursorProperty, location }: Operation, basePath: string) {
  return (ctx: Context, value: unknown, paged: RestRequest | undefined): void => {
    if (location !== undefined) {
      const created = value as Json; // a row with `location` gives an object
      const path = location.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(created[name])));
      ctx.set('Location', basePath + path);
    }
    const last = isPaged && paged && (value as readonly Json[]).at(-1); // a paged answer is a list by ascending id
    if (!last) return;
    // RFC 8288 §3: the next page, with the same query parameters.
    const query = stringify({ ...paged.query, [CURSOR]: String(last[cursorProperty]) });
    ctx.res.appendHeader('Link', `<${ctx.state.baseUrl}${ctx.path}?${query}>; rel="next"`);
  };
}
