import { ApiError } from '../errors.ts';
import { type BrokenRule, brokenRule } from '../schema/rules.ts';
import { notAllowed, refuseText } from './input-refusals.ts';
import type { Operation, Parameter } from './operation.ts';

/** The texts of parameters in their order; undefined for an absent one. */
type Texts = readonly (string | undefined)[];

/** The inputs of a request: the coerced arguments of the root field, and the texts of the query parameters. */
export type RestRequest = ReturnType<typeof readRequest>;

/**
 * Reads the inputs of a request. `path` has the decoded path parameters; `body` is the parsed JSON body, if the operation has
 * one. ApiError `bad_request` names an invalid input; `not_found` for an invalid path parameter.
 */
export function readRequest(
  operation: Operation,
  querystring: string,
  path: Readonly<Record<string, string>>,
  body: unknown,
) {
  const args: Record<string, unknown> = {};
  for (const { name, argument, leaf } of operation.inPath) {
    args[argument.name] = leaf.fromText(path[name] ?? '') ?? refuseNotFound(operation);
  }
  const inQuery = findTexts(operation.inQuery, querystring);
  for (const [index, parameter] of operation.inQuery.entries()) {
    args[parameter.argument.name] = readText(parameter, inQuery[index]);
  }
  if (operation.body !== undefined) args[operation.body.name] = operation.body.readJson(body, '');
  return { args, inQuery };
}

/** Throws the operation's ApiError `not_found`. */
export function refuseNotFound({ notFound = '' }: Operation): never {
  throw new ApiError('not_found', notFound);
}

/** Converts an error of running an operation: a broken rule of the schema becomes an ApiError with the names of the request. */
export function explainRefusal(operation: Operation, request: RestRequest, thrown: unknown): unknown {
  const rule = brokenRule(thrown);
  return rule === undefined ? thrown : explainRule(operation, request, rule);
}

function explainRule({ inQuery, body, notFound = '' }: Operation, request: RestRequest, rule: BrokenRule): ApiError {
  const [argument, ...path] = rule.path;
  if (argument === body?.name) return new ApiError('bad_request', `${path.join('.')} ${rule.message}.`);
  const index = inQuery.findIndex((parameter) => parameter.argument.name === argument);
  const parameter = inQuery[index];
  if (!parameter) return new ApiError('not_found', notFound); // it is a path parameter
  return notAllowed(parameter.name, request.inQuery[index] ?? '', rule.message.replace(/^must be /, ''));
}

function readText({ name, argument, leaf, isRequired }: Parameter, text: string | undefined): unknown {
  if (text !== undefined) {
    const value = leaf.fromText(text);
    if (value === undefined) throw refuseText(leaf, name, text);
    return value;
  }
  if (isRequired) throw new ApiError('bad_request', `${name} is required: ${leaf.allowed}.`);
  return argument.defaultValue;
}

function findTexts(parameters: readonly Parameter[], querystring: string): Texts {
  const texts: (string | undefined)[] = [];
  // URLSearchParams removes one leading question mark: a second one belongs to the first name.
  for (const [name, text] of new URLSearchParams(`?${querystring}`)) {
    const index = parameters.findIndex((parameter) => parameter.name === name);
    if (index < 0) continue;
    if (texts[index] !== undefined) throw new ApiError('bad_request', `${name} was given twice.`);
    texts[index] = text;
  }
  return texts;
}
