import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { ApiError } from '../errors.ts';
import { writeError } from './error-body.ts';

/** What every answer has, whoever gives it. */
export const STANDARD_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

function refusalHeaders(error: ApiError, body: string, requestId: string): OutgoingHttpHeaders {
  return {
    'X-Request-Id': requestId,
    ...STANDARD_HEADERS,
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  };
}

/** A refusal as the bytes of an answer that ends its connection, for a socket without a request. */
export function rawRefusal(error: ApiError, requestId: string, isHead: boolean): string {
  const body = writeError(error);
  const headers = {
    Date: new Date().toUTCString(),
    ...refusalHeaders(error, body, requestId),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map((field) => field.join(': '));
  // RFC 9110 §9.3.2: a HEAD has no body in its answer.
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('\r\n')}\r\n\r\n${isHead ? '' : body}`;
}

/** Answers a request with a refusal. */
export function refuse(answer: ServerResponse, error: ApiError, requestId: string): void {
  const body = writeError(error);
  answer.writeHead(error.status, refusalHeaders(error, body, requestId));
  answer.end(body);
}

/** Answers, in the app's place, a request whose body will not come whole: the connection ends with the refusal. */
export function refuseAndEnd(answer: ServerResponse, error: ApiError, requestId: string): void {
  answer.shouldKeepAlive = false;
  answer.once('finish', () => answer.req.destroy());
  refuse(answer, error, requestId);
}
