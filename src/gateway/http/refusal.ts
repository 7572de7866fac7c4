import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Middleware } from 'koa';
import { type ApiError, toApiError } from '../errors.ts';
import { holdsKey } from '../key-mask.ts';
import { type Logger, logFault } from '../log.ts';
import { peerAddress } from './client-address.ts';

/** The headers of every answer. */
export const STANDARD_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

// Of bounded length, without spaces or control characters: the id is written to a header and to the log.
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/** The id of a request: its valid `X-Request-Id`, else a new one. A value that contains an API key is not valid. */
export function requestIdOf({ 'x-request-id': sent }: IncomingHttpHeaders): string {
  return typeof sent === 'string' && REQUEST_ID.test(sent) && !holdsKey(sent) ? sent : randomUUID();
}

function refusalHeaders(error: ApiError, body: string, requestId: string): OutgoingHttpHeaders {
  return {
    'X-Request-Id': requestId,
    ...STANDARD_HEADERS,
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  };
}

/** A refusal as an HTTP message that closes the connection, for a socket whose request Node could not parse. */
export function rawRefusal(error: ApiError, requestId: string, isHead: boolean): string {
  const body = errorText(error);
  const headers = {
    Date: new Date().toUTCString(),
    ...refusalHeaders(error, body, requestId),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map((field) => field.join(': '));
  // RFC 9110 §9.3.2: the answer to HEAD has no body.
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('\r\n')}\r\n\r\n${isHead ? '' : body}`;
}

/** Answers a request with a refusal. */
export function refuse(answer: ServerResponse, error: ApiError, requestId: string): void {
  const body = errorText(error);
  answer.writeHead(error.status, refusalHeaders(error, body, requestId));
  answer.end(body);
}

/** Answers a request whose body will not arrive, without the app, and closes the connection. */
export function refuseAndEnd(answer: ServerResponse, error: ApiError, requestId: string): void {
  answer.shouldKeepAlive = false;
  answer.once('finish', () => answer.req.destroy());
  refuse(answer, error, requestId);
}

/** Logs the refusal of a request that never reached the app. */
export function logRefusedUnread(log: Logger, { status, message }: ApiError, requestId: string, socket: Duplex): void {
  const clientAddress = peerAddress(socket);
  log.info({ requestId, clientAddress, status, reason: message }, 'request refused unread');
}

/** An ApiError as the Error of the API description: `{"code":…,"message":…,"status":…}`. */
function errorText({ code, message, status }: ApiError): string {
  return JSON.stringify({ code, message, status });
}

/** Koa middleware: an error thrown below becomes an Error body; internal errors are logged with their cause. */
export function errorBody(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      logFault(log, error, ctx.state.requestId);
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.set('Content-Type', 'application/json; charset=utf-8');
      ctx.body = errorText(error);
    }
  };
}
