import type { GraphQLParams } from 'graphql-yoga';
import { parseJson } from '../../lib/exact-json/exact-json.ts';
import { ApiError } from '../errors.ts';
import { isJsonObject, parseJsonBytes } from '../web/json-body.ts';

/** Reads the parameters of a GET. Throws ApiError `bad_request` without a document, or for an invalid JSON parameter. */
export function parametersFromQuery(querystring: string): GraphQLParams {
  const query = new URLSearchParams(querystring);
  return requireDocument({
    query: query.get('query'),
    operationName: query.get('operationName'),
    variables: readJsonParameter(query, 'variables'),
    extensions: readJsonParameter(query, 'extensions'),
  });
}

/** Reads the parameters of a POST. Throws ApiError `bad_request` without a document, or for a body that is invalid JSON. */
export function parametersFromBody(body: Buffer): GraphQLParams {
  return requireDocument(parseJsonBytes(body));
}

/**
 * Takes the parameters of GraphQL over HTTP §5, of any type, and ignores other members. Throws ApiError `bad_request` without a
 * document.
 */
function requireDocument(sent: unknown): GraphQLParams {
  if (!isJsonObject(sent)) return sent as GraphQLParams; // Yoga refuses it
  const { query, operationName, variables, extensions } = sent as GraphQLParams;
  if (query === undefined || query === null) {
    // For an error with this message, Apollo Client and urql send the request again, with its document.
    const isPersisted = isJsonObject(extensions) && extensions.persistedQuery !== undefined;
    throw new ApiError(
      'bad_request',
      isPersisted ? 'PersistedQueryNotSupported' : 'The parameter query is required: the GraphQL document.',
    );
  }
  // An empty operationName, and null for any parameter, means that it is absent.
  const name = operationName === '' ? undefined : (operationName ?? undefined);
  const rest = { variables: variables ?? undefined, extensions: extensions ?? undefined };
  return { query, operationName: name, ...rest } as GraphQLParams; // undefined stands for absent
}

/** Checks types. Undefined if one is wrong: Yoga writes that error. Throws ApiError `bad_request` for a wrong `operationName`. */
export function checkParameters(params: GraphQLParams) {
  if (!isJsonObject(params)) return undefined;
  const { query, operationName, variables = {}, extensions = {} } = params as GraphQLParams;
  if (typeof query !== 'string' || !isJsonObject(variables) || !isJsonObject(extensions)) return undefined;
  if (operationName !== undefined && typeof operationName !== 'string') {
    throw new ApiError('bad_request', 'The parameter operationName must be a string.');
  }
  return { query, operationName, variables };
}

/** https://graphql.github.io/graphql-over-http/draft/#sec-GET */
function readJsonParameter(query: URLSearchParams, name: 'variables' | 'extensions'): unknown {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  try {
    const value = parseJson(text);
    if (value === null || isJsonObject(value)) return value;
  } catch {
    // refused below, like JSON that is not an object
  }
  throw new ApiError('bad_request', `The query parameter ${name} must be a JSON object.`);
}
