import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { holdsKey } from '../masking.ts';
import type { Answer } from './call.ts';
import { peerAddress } from './client-address.ts';

/** The headers of every answer, beside its id; an answer may override them. */
export const STANDARD_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
const STANDARD = Object.entries(STANDARD_HEADERS);

// Of bounded length, without spaces or control characters: the id is written to a header and to the log.
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/** The id of a request: its valid `X-Request-Id`, else a new one. A value that contains an API key is not valid. */
export function requestIdOf({ 'x-request-id': sent }: IncomingHttpHeaders): string {
  return typeof sent === 'string' && REQUEST_ID.test(sent) && !holdsKey(sent) ? sent : randomUUID();
}

/** How an API writes an error: the media type and the text of the body. */
export type ErrorWriter = (error: ApiError, headers: IncomingHttpHeaders) => { type: string; body: string };

/** An ApiError as the Error of the API description: `{"code":…,"message":…,"status":…}`. */
export const writeRestError: ErrorWriter = ({ code, message, status }) => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify({ code, message, status }),
});

/** The answer that tells an error, as `write` writes it; `headers` are those of the request. */
export function errorAnswer(error: ApiError, write: ErrorWriter, headers: IncomingHttpHeaders = {}): Answer {
  const { type, body } = write(error, headers);
  return { status: error.status, headers: { ...error.headers, 'Content-Type': type }, body };
}

/** Sets the headers that every answer has. An answer that is sent without the app has them, too. */
export function setStandardHeaders(response: ServerResponse, requestId: string): void {
  response.setHeader('X-Request-Id', requestId);
  for (const [name, value] of STANDARD) response.setHeader(name, value);
}

/** Sends an answer, unless another one has been begun. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.headersSent || !response.writable) return;
  for (const name in headers) {
    const value = headers[name] ?? '';
    const before = name === 'Vary' ? response.getHeader(name) : undefined; // that of CORS
    response.setHeader(name, before === undefined ? value : [before, value].flat().join(', '));
  }
  response.statusCode = status;
  if (body === undefined) return void response.end();
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.writeHead(status); // before `end`, which would otherwise count the bytes once more
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** Logs the refusal of a request that never reached an API. */
export function logUnread(log: Logger, { status, message }: ApiError, requestId: string, socket: Duplex): void {
  const clientAddress = peerAddress(socket);
  log.info({ requestId, clientAddress, status, reason: message }, 'request refused unread');
}
