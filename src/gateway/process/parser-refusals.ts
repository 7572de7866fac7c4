import { randomUUID } from 'node:crypto';
import type { Reason, Refuse } from '../../lib/ordered-http/ordered-http.ts';
import { ApiError } from '../errors.ts';
import { logRefusedUnread, requestIdOf, STANDARD_HEADERS, writeRestError } from '../http/answer.ts';
import type { Logger } from '../log.ts';

const MESSAGES: Readonly<Record<Exclude<Reason, 'connect'>, string>> = {
  'not HTTP': 'The request is not valid HTTP.',
  'long header': 'The header of the request is too large.',
  late: 'The request did not arrive in time.',
  'small chunks': 'The body comes in too many small chunks.',
};

/**
 * Writes the answers to requests that never reach the app, or not whole: with an Error body and a request id, which the log has too.
 * `methods` gives the methods of all routes.
 */
export function createParserRefusals(log: Logger, methods: () => readonly string[]): Refuse {
  const errorFor = (reason: Reason) => {
    if (reason !== 'connect') return new ApiError('bad_request', MESSAGES[reason]);
    const headers = { Allow: methods().toSorted().join(', ') };
    return new ApiError('method_not_allowed', 'This is no proxy.', { headers });
  };
  return (reason, socket, response) => {
    const error = errorFor(reason);
    const appsId = response?.getHeader('X-Request-Id'); // set when the request has reached the app, which logs it
    const requestId = String(appsId ?? (response ? requestIdOf(response.req.headers) : randomUUID()));
    if (appsId === undefined) logRefusedUnread(log, error, requestId, socket);
    const { type, body } = writeRestError(error, {});
    const headers = { 'X-Request-Id': requestId, ...STANDARD_HEADERS, ...error.headers, 'Content-Type': type };
    return { status: error.status, headers, body };
  };
}
