import { ApiError } from '../errors.ts';
import type { PathParams } from '../http/call.ts';
import { readQueryParameters } from '../http/request-target.ts';
import { brokenRule } from '../schema/rules.ts';
import { notAllowed, textRefusal } from './input-refusals.ts';
import type { Operation } from './operation.ts';

/** The inputs of a request: the coerced arguments of the root field, and the texts of the query parameters. */
export type RestRequest = ReturnType<typeof readRequest>;

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
    if (text === undefined) {
      if (isRequired) throw new ApiError('bad_request', `${name} is required: ${leaf.allowed}.`);
      args[argument.name] = argument.defaultValue;
      continue;
    }
    args[argument.name] = leaf.fromText(text);
    if (args[argument.name] === undefined) throw textRefusal(leaf, name, text);
  }
  if (operation.body !== undefined) args[operation.body.name] = operation.body.readJson(body, '');
  return { args, query };
}

/** Throws the operation's ApiError `not_found`. */
export function refuseNotFound({ notFound = '' }: Operation): never {
  throw new ApiError('not_found', notFound);
}

/** Converts a broken rule of the schema to an ApiError that names the parameter or property. Gives any other error as it is. */
export function explainError({ queryParams, body, notFound = '' }: Operation, { query }: RestRequest, thrown: unknown) {
  const rule = brokenRule(thrown);
  if (rule === undefined) return thrown;
  const [argument, ...path] = rule.path;
  if (argument === body?.name) return new ApiError('bad_request', `${path.join('.')} ${rule.message}.`);
  const parameter = queryParams.find((candidate) => candidate.argument.name === argument);
  if (!parameter) return new ApiError('not_found', notFound); // the argument is a path parameter
  return notAllowed(parameter.name, query[parameter.name] ?? '', rule.message.replace(/^must be /, ''));
}
