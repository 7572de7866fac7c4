import { ApiError } from '../errors.ts';
import { type BrokenRule, brokenRule } from '../schema/rules.ts';
import { notAllowed, refuseText } from './input-representation.ts';
import type { Operation, Parameter } from './operation.ts';

/** The texts of parameters, in their order; undefined where there was none. */
export type Texts = readonly (string | undefined)[];

/** A request, read for its operation. */
export interface RestRequest {
  /** The arguments of the operation's root field, in the words of the store. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly inPath: Texts;
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
  const inPath = operation.inPath.length > 0 ? readPath(operation, path, args) : NONE;
  const inQuery = operation.inQuery.length > 0 ? readQuery(operation.inQuery, querystring, args) : NONE;
  if (operation.body !== undefined) args[operation.body.name] = operation.body.readJson(body, '');
  return { args, inPath, inQuery };
}

const NONE: Texts = [];

function readPath(operation: Operation, path: Readonly<Record<string, string>>, args: Record<string, unknown>): Texts {
  return operation.inPath.map(({ name, argument, leaf }) => {
    const text = path[name] ?? '';
    args[argument.name] = leaf.fromText(text) ?? refuseNotFound(operation);
    return text;
  });
}

function readQuery(parameters: readonly Parameter[], querystring: string, args: Record<string, unknown>): Texts {
  const texts = findTexts(parameters, querystring);
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index] as Parameter; // the index is within
    args[parameter.argument.name] = readText(parameter, texts[index]);
  }
  return texts;
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

function explainRule({ inPath, inQuery, body, notFound }: Operation, request: RestRequest, rule: BrokenRule): ApiError {
  const [argument, ...way] = rule.path;
  const isIt = (parameter: Parameter) => parameter.argument.name === argument;
  if (argument === body?.name) return new ApiError('bad_request', `${way.join('.')} ${rule.message}.`);
  if (inPath.some(isIt)) return new ApiError('not_found', notFound ?? '');
  const index = inQuery.findIndex(isIt);
  const { name } = inQuery[index] as Parameter; // each argument is a parameter or the body
  return notAllowed(name, request.inQuery[index] ?? '', rule.message.replace(/^must be /, ''));
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

/** https://url.spec.whatwg.org/#concept-urlencoded-parser, of the parameters that are asked for. */
function findTexts(parameters: readonly Parameter[], querystring: string): Texts {
  const texts: (string | undefined)[] = [];
  if (querystring === '') return texts;
  const isEncoded = /[%+]/.test(querystring);
  for (const part of querystring.split('&')) {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const index = indexOf(parameters, isEncoded ? decode(name) : name);
    if (index < 0) continue;
    if (texts[index] !== undefined) throw new ApiError('bad_request', `${parameters[index]?.name} was given twice.`);
    const text = equals < 0 ? '' : part.slice(equals + 1);
    texts[index] = isEncoded ? decode(text) : text;
  }
  return texts;
}

function indexOf(parameters: readonly Parameter[], name: string): number {
  for (let index = 0; index < parameters.length; index++) if (parameters[index]?.name === name) return index;
  return -1;
}

function decode(text: string): string {
  return /[%+]/.test(text) ? (new URLSearchParams(`=${text}`).get('') ?? '') : text;
}
