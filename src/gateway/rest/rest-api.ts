import { stringify } from 'node:querystring';
import type { GraphQLSchema } from 'graphql';
import type { Arguments } from '../../lib/graphql-plan/graphql-plan.ts';
import { deprecationHeaders } from '../deprecations.ts';
import { ApiError } from '../errors.ts';
import type { AdmittedCall, Answer, Call, PathParams, Route } from '../http/call.ts';
import { parseJsonBytes } from '../http/json-body.ts';
import { readQueryParameters } from '../http/request-target.ts';
import { LIST_LIMIT, pageSizeOf } from '../schema/builder.ts';
import { type Context, createContext, readIdempotencyKey } from '../schema/context.ts';
import { brokenRule } from '../schema/field-checks.ts';
import type { Page } from '../store/keyset-list.ts';
import type { Stores } from '../store/store.ts';
import { createCompiler } from './compile.ts';
import { createOpenApi, ERROR_SCHEMA } from './openapi.ts';
import { CURSOR, compileOperationRow, type Operation, type RestService } from './operation.ts';
import { describeOperation } from './operation-description.ts';
import { type Json, notAllowed, type Schemas, textRefusal } from './representation.ts';

/**
 * Creates the REST API of a service: operations with their descriptions, routes, and the function that makes the OpenAPI document. Clients reach it below `publicPath`.
 * Throws Error, which stops the start, when a row does not fit the schema, or two rows do not go together.
 */
export function createRestApi(service: RestService, schema: GraphQLSchema, stores: Stores, publicPath = '') {
  const compile = createCompiler(schema, service.deprecations);
  const schemas: Schemas = { Error: ERROR_SCHEMA };
  const operations = service.resources.flatMap(({ table, operationRows }) =>
    operationRows.map((row) => describeOperation(compileOperationRow(row, table.name, compile, schemas))),
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
  const { method, body, isMutation, isList, isPaged, success, answer, isNullable } = operation;
  const [deprecation] = operation.deprecations;
  const location = operation.location && publicPath + basePath + operation.location;

  const handle = async (call: AdmittedCall): Promise<Answer> => {
    const request = readRequest(operation, call.querystring, call.params, body && parseJsonBytes(call.body));
    const context = createContext(stores, call.caller, call.headers, call.deadline);
    const args = checkRequest(operation, request, context);
    const reserved = call.reserve(pageSizeOf(args) ?? (isList ? LIST_LIMIT.max : 1));
    if (reserved !== undefined) await reserved;
    const value = await operation.resolver(undefined, args, context, operation.info);
    if (isNullable && (value === null || value === undefined)) refuseNotFound(operation);
    const text = answer && (await operation.write(value, context));
    const headers = {
      ...(location && { Location: location.replaceAll(/\{(\w+)\}/g, propertyOf(value as Json)) }), // a row with `location` gives an object
      ...(isPaged && nextPage(operation, call, request, value as readonly Json[])), // a list, by its type
      ...(context.isReplayed() && { 'Idempotency-Replayed': 'true' }),
      ...(text !== undefined && { 'Content-Type': 'application/json; charset=utf-8' }),
    };
    return { status: success.status, headers, body: text };
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

type RestRequest = ReturnType<typeof readRequest>;

/**
 * Reads the inputs of a request. `body` is the parsed JSON body, if the operation has one. Throws ApiError `bad_request`, which
 * names an invalid input, and `not_found` for an invalid path parameter.
 */
export function readRequest(operation: Operation, querystring: string, params: PathParams, body: unknown) {
  const args: Record<string, unknown> = {};
  for (const { name, argument, leaf } of operation.pathParams) {
    args[argument.name] = leaf.fromText(params[name] ?? '') ?? refuseNotFound(operation);
  }
  const query = readQueryParameters(querystring, operation.queryParams);
  for (const { name, argument, leaf, isRequired } of operation.queryParams) {
    const text = query[name];
    if (text === undefined && isRequired) throw new ApiError('bad_request', `${name} is required: ${leaf.allowed}.`);
    const value = text === undefined ? argument.defaultValue : leaf.fromText(text);
    if (text !== undefined && value === undefined) throw textRefusal(leaf, name, text);
    args[argument.name] = value;
  }
  if (operation.body !== undefined) args[operation.body.name] = operation.body.readJson(body, '');
  return { args, query };
}

function refuseNotFound({ notFound = '' }: Operation): never {
  throw new ApiError('not_found', notFound);
}

/**
 * Checks the arguments of a request by the schema's rules, and gives them as the resolver gets them. Throws an ApiError that names
 * the parameter or property.
 */
function checkRequest(operation: Operation, { args, query }: RestRequest, context: Context): Arguments {
  try {
    return operation.check(args, context);
  } catch (thrown) {
    const rule = brokenRule(thrown);
    if (rule === undefined) throw thrown;
    const [argument, ...path] = rule.path;
    const parameter = operation.queryParams.find((candidate) => candidate.argument.name === argument);
    if (parameter) throw notAllowed(parameter.name, query[parameter.name] ?? '', rule.message.replace(/^must be /, ''));
    if (operation.pathParams.some((candidate) => candidate.argument.name === argument)) refuseNotFound(operation);
    const subject = path.join('.') || (argument === undefined ? 'The request' : 'The body');
    throw new ApiError('bad_request', `${subject} ${rule.message}.`);
  }
}

/** Fills in a placeholder of `Location`. */
const propertyOf = (created: Json) => (_: string, name: string) => encodeURIComponent(String(created[name]));

/** The header of a page that more rows follow. RFC 8288 §3: the next page, with the same query parameters. */
function nextPage(
  { cursorProperty }: Operation,
  { baseUrl, path }: Call,
  { query }: RestRequest,
  page: readonly Json[] & Partial<Page<Json>>,
) {
  const last = page.at(-1);
  if (last === undefined) return undefined;
  if (page.hasMore === undefined) throw new Error('A copy of a page does not tell whether more follow: give the page.');
  if (!page.hasMore) return undefined;
  query[CURSOR] = String(last[cursorProperty]); // read for the last time: a copy costs as much as the text
  return { Link: `<${baseUrl}${path}?${stringify(query)}>; rel="next"` };
}
