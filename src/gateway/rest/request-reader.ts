import type { Arguments } from '../../lib/graphql-plan/graphql-plan.ts';
import { ApiError } from '../errors.ts';
import type { PathParams } from '../http/call.ts';
import { readQueryParameters } from '../http/request-target.ts';
import type { AnyKind } from '../kinds.ts';
import { quoteInput } from '../masking.ts';
import type { Context } from '../schema/context.ts';
import { brokenRule } from '../schema/field-checks.ts';
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

/**
 * Checks the arguments of a request by the schema's rules, and gives them as the resolver gets them. Throws an ApiError that names
 * the parameter or property.
 */
export function checkRequest(operation: Operation, { args, query }: RestRequest, context: Context): Arguments {
  try {
    return operation.check(args, context);
  } catch (thrown) {
    const rule = brokenRule(thrown);
    if (rule === undefined) throw thrown;
    const [argument, ...path] = rule.path;
    if (argument === operation.body?.name) throw new ApiError('bad_request', `${path.join('.')} ${rule.message}.`);
    const parameter = operation.queryParams.find((candidate) => candidate.argument.name === argument);
    if (!parameter) refuseNotFound(operation); // the argument is a path parameter
    throw notAllowed(parameter.name, query[parameter.name] ?? '', rule.message.replace(/^must be /, ''));
  }
}

/** Makes the ApiError `bad_request` for the text of a parameter that its leaf does not allow; it may suggest an allowed text. */
export function textRefusal(leaf: AnyKind, name: string, text: string): ApiError {
  const suggested = leaf.suggest(text);
  if (suggested === undefined) return notAllowed(name, text, leaf.allowed);
  return new ApiError('bad_request', `${name}=${quoteInput(text)}: did you mean ${suggested}?`);
}

/** Makes the ApiError `bad_request` for the text of a parameter. `allowed` describes the allowed values. */
function notAllowed(name: string, text: string, allowed: string): ApiError {
  return new ApiError('bad_request', `${name}=${quoteInput(text)} is not allowed: ${allowed}.`);
}
