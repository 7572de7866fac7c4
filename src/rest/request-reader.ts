import { ApiError } from '../errors.ts';
import { type BrokenRule, brokenRule } from '../schema/rules.ts';
import { notAllowed, refuseText } from './input-refusals.ts';
import type { Operation, Parameter } from './operation.ts';

/** The texts of parameters, in their order; undefined where there was none. */
type Texts = readonly (string | undefined)[];

/** A request, read for its operation. */
export interface RestRequest {
  /** The arguments of the operation's root field, in the words of the store. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The texts of the query parameters. */
  readonly inQuery: Texts;
}

/**
 * Reads a request. `path` has the parameters in the path, decoded; `body` is the JSON body of an operation that has one.
 * ApiError `bad_request` names what is not allowed; `not_found` when a parameter in the path cannot be one.
 */
export function readRequest(
  operation: Operation,
  querystring: string,
  path: Readonly<Record<string, string>>,
  body: unknown,
): RestRequest {
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

/** The refusal of an operation whose path leads nowhere. */
export function refuseNotFound({ notFound = '' }: Operation): never {
  throw new ApiError('not_found', notFound);
}

/** What was thrown while an operation ran; a rule that an input breaks is said as REST says it, in the request's names. */
export function explainRefusal(operation: Operation, request: RestRequest, thrown: unknown): unknown {
  const rule = brokenRule(thrown);
  return rule === undefined ? thrown : explainRule(operation, request, rule);
}

function explainRule({ inQuery, body, notFound = '' }: Operation, request: RestRequest, rule: BrokenRule): ApiError {
  const [argument, ...path] = rule.path;
  if (argument === body?.name) return new ApiError('bad_request', `${path.join('.')} ${rule.message}.`);
  const index = inQuery.findIndex((parameter) => parameter.argument.name === argument);
  const parameter = inQuery[index];
  if (!parameter) return new ApiError('not_found', notFound); // it is in the path
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
  // URLSearchParams takes one question mark away: another one is part of the first name.
  for (const [name, text] of new URLSearchParams(`?${querystring}`)) {
    const index = parameters.findIndex((parameter) => parameter.name === name);
    if (index < 0) continue;
    if (texts[index] !== undefined) throw new ApiError('bad_request', `${name} was given twice.`);
    texts[index] = text;
  }
  return texts;
}
