import { parseJson } from '../../lib/exact-json/exact-json.ts';
import { copyText } from '../caches.ts';
import { ApiError } from '../errors.ts';
import { isJsonObject, parseJsonBytes } from '../http/json-body.ts';
import { readQueryParameters } from '../http/request-target.ts';

const PARAMETERS = ['query', 'operationName', 'variables', 'extensions'].map((name) => ({ name }));

/** Reads the parameters of a GET, GraphQL over HTTP §5. Throws ApiError `bad_request` without a document, or for a parameter of a wrong type. */
export function parametersFromQuery(querystring: string) {
  const sent = readQueryParameters(querystring, PARAMETERS);
  const query = sent.query && copyText(sent.query); // documents are cached
  const [variables, extensions] = [parseParameter(sent.variables), parseParameter(sent.extensions)];
  return checkParameters({ ...sent, query, variables, extensions });
}

/** Reads the parameters of a POST. Throws as `parametersFromQuery` does, and for a body that is no JSON object. */
export function parametersFromBody(body: Buffer) {
  const sent = parseJsonBytes(body);
  if (!isJsonObject(sent)) throw new ApiError('bad_request', 'The body must be a JSON object.');
  return checkParameters(sent);
}

/** Checks types, and ignores other members. Null for any parameter, and an empty operationName, mean that it is absent. */
function checkParameters(sent: Readonly<Record<string, unknown>>) {
  const { query, operationName } = sent;
  const [variables, extensions] = [sent.variables ?? {}, sent.extensions ?? {}];
  if (!isJsonObject(variables)) throw new ApiError('bad_request', 'The parameter variables must be a JSON object.');
  if (!isJsonObject(extensions)) throw new ApiError('bad_request', 'The parameter extensions must be a JSON object.');
  if (query === undefined || query === null) {
    if (extensions.persistedQuery === undefined || extensions.persistedQuery === null)
      throw new ApiError('bad_request', 'The parameter query is required: the GraphQL document.');
    // For this message, Apollo Client and urql send the request again, with its document.
    const graphqlCode = 'PERSISTED_QUERY_NOT_SUPPORTED';
    throw new ApiError('bad_request', 'PersistedQueryNotSupported', { graphqlCode });
  }
  if (typeof query !== 'string') throw new ApiError('bad_request', 'The parameter query must be a string.');
  const name = operationName === '' ? undefined : (operationName ?? undefined);
  if (name !== undefined && typeof name !== 'string')
    throw new ApiError('bad_request', 'The parameter operationName must be a string.');
  return { query, operationName: name, variables };
}

/** The value of a JSON text, https://graphql.github.io/graphql-over-http/draft/#sec-GET; what is no JSON stays a text, which is refused. */
function parseParameter(text = ''): unknown {
  try {
    return text === '' ? undefined : parseJson(text);
  } catch {
    return text;
  }
}
