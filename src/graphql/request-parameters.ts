import type { GraphQLParams } from 'graphql-yoga';
import { ApiError } from '../errors.ts';
import { parseJson } from '../int64.ts';
import { isJsonObject, parseJsonBytes } from '../web/json-body.ts';

/** The parameters of a request that can be run, as far as their shape goes. */
export interface RequestParameters {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What a client sends that would have its documents persisted: GraphQL over HTTP leaves the word to the server. */
const PERSISTED_QUERY = 'PersistedQueryNotSupported';

/** The parameters of a GET, whose variables and extensions are JSON texts. Throws what `requireDocument` throws. */
export function parametersInAddress(querystring: string): GraphQLParams {
  const query = new URLSearchParams(querystring);
  return requireDocument({
    query: query.get('query'),
    operationName: query.get('operationName'),
    variables: readJsonParameter(query, 'variables'),
    extensions: readJsonParameter(query, 'extensions'),
  });
}

/** The parameters of a POST. Throws what `parseJsonBytes` and `requireDocument` throw. */
export function parametersInBody(body: Buffer): GraphQLParams {
  return requireDocument(parseJsonBytes(body));
}

/**
 * The parameters of GraphQL over HTTP §5, integers exact; members beside them are ignored. Their shape is not judged.
 * ApiError `bad_request` without a document.
 */
function requireDocument(sent: unknown): GraphQLParams {
  if (!isJsonObject(sent)) return sent as GraphQLParams; // Yoga refuses it
  const { query, operationName, variables, extensions } = sent as GraphQLParams;
  if (query === undefined || query === null) {
    // Apollo's and urql's links look at the message, and send the document then.
    const isPersisted = isJsonObject(extensions) && extensions.persistedQuery !== undefined;
    throw new ApiError(
      'bad_request',
      isPersisted ? PERSISTED_QUERY : 'The parameter query is required: the GraphQL document.',
    );
  }
  // An empty name, and null in every place, is as good as none.
  const name = operationName === '' ? undefined : (operationName ?? undefined);
  const rest = { variables: variables ?? undefined, extensions: extensions ?? undefined };
  return { query, operationName: name, ...rest } as GraphQLParams; // what is undefined is absent
}

/** The parameters, when their shape is right; undefined when Yoga is to say what is wrong. */
export function asRunnable(params: GraphQLParams): RequestParameters | undefined {
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
    // refused below, like JSON that is no object
  }
  throw new ApiError('bad_request', `The query parameter ${name} must be a JSON object.`);
}
