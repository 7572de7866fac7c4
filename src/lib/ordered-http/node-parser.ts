import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Node's undocumented property of a server's connection: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js */
export interface Connection extends Socket {
  parser: Parser | null;
}

/** A request, as Node's parser gives it. */
type IncomingRequest = IncomingMessage & { upgrade: boolean };

/** What `execute` gives: how many bytes of a chunk were parsed, or an error. */
type Parsed = number | Error;

/**
 * Callback 2 is for a complete header, 3 for a chunk of a body, 4 for a complete request. The parser skips a missing callback:
 * https://github.com/nodejs/node/blob/v24.x/src/node_http_parser.cc
 */
export interface Parser {
  2?: unknown;
  3?: ((chunk: Buffer) => void) | undefined;
  4?: unknown;
  /** Called with what was parsed of a chunk that the parser read from the socket directly. */
  5(parsed: Parsed): void;
  execute(chunk: Buffer): Parsed;
  /** The chunk that is parsed. */
  getCurrentBuffer(): Buffer;
  /** The request that the parser reads. */
  incoming: IncomingMessage | null;
  /** Called with each request whose header is complete; its result tells the parser how to continue. */
  onIncoming(request: IncomingRequest, keepAlive: boolean): number;
  resume(): void;
}

/** An error of the parser, as Node gives it to `clientError`; `again` is what the parser must read once more. */
export type ParserError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number; again?: Buffer };

/** A result of `onIncoming` that pauses the parser: https://github.com/nodejs/llhttp/blob/main/src/llhttp/constants.ts */
export const HPE_PAUSED = 21;
/** A result of `onIncoming` that takes the request as one without a body. */
export const SKIP_BODY = 2;
/** The code of the error that tells a pause of the parser. */
export const PAUSED_CODE = 'HPE_PAUSED';
/** The code of the error of `limitChunks`. */
export const SMALL_CHUNKS_CODE = 'SMALL_CHUNKS';
/** Tiny chunks are costly: each takes an object and some µs. Beyond FREE_CHUNKS they must have CHUNK_BYTES on average. */
const FREE_CHUNKS = 1024;
const CHUNK_BYTES = 64;
/** Empty, with a valid pointer: a null pointer would mean the end of the connection to the parser. */
export const NO_BYTES = Buffer.alloc(1).subarray(1);

/**
 * Makes the parser read a request that asks for another protocol once more, as one that does not: a server may ignore that
 * (RFC 9110 §7.8). Otherwise the parser would stop at its end, and hide all errors until the next header. `ignores` tells whether a
 * request is such a one; then `onIncoming` is to give SKIP_BODY. A parser that is to close reads nothing again: then `isLast` has it
 * tell what is no body of this request. Call `release` when the connection leaves the parser.
 */
export function ignoreUpgrades(parser: Parser) {
  const { 5: onParsed, execute } = parser;
  let again: Buffer | undefined;
  let last: IncomingMessage | undefined;
  const readAgain = (parsed: Parsed, length = last && parser.getCurrentBuffer().length): Parsed => {
    if (last?.complete === false && parsed !== length && typeof parsed === 'number') return noBody(parsed);
    if (again === undefined || typeof parsed !== 'number') return parsed;
    const error = Object.assign(new Error('a header is read again'), { code: PAUSED_CODE, bytesParsed: parsed, again });
    again = undefined;
    return error;
  };
  const executeAgain = (chunk: Buffer) => readAgain(execute.call(parser, chunk), chunk.length);
  parser.execute = executeAgain;
  parser[5] = (parsed) => onParsed(readAgain(parsed));
  return {
    ignores(request: IncomingRequest): boolean {
      if (!request.upgrade || request.method === 'CONNECT') return false;
      parser.incoming = null;
      again = headerWithoutUpgrade(request);
      return true;
    },
    isLast(request: IncomingRequest, keepAlive: boolean): boolean {
      if (!request.upgrade || keepAlive || request.method === 'CONNECT') return false;
      last = request;
      return true;
    },
    release() {
      parser.execute = execute;
    },
  };
}

/**
 * Node refuses a header of more lines. Before 24.18.1 it drops those behind them, such as a second Host (CVE-2026-58044): whoever sends as
 * many is refused. Its limit of 16 kB counts no ends of lines: 16,000 lines `a:` would take 0.8 MB, and 2500 with different names, read,
 * 0.3; these take 0.04. Apache and Tomcat take 100, HAProxy 101.
 */
export const HEADER_LINES_MAX = 250;

/** The error of a header whose lines may not be all; undefined where they are. */
export function tooManyLines({ rawHeaders }: IncomingMessage): ParserError | undefined {
  if (rawHeaders.length < 2 * HEADER_LINES_MAX) return undefined;
  return Object.assign(new Error('the header has too many lines'), { code: 'HPE_HEADER_OVERFLOW' });
}

/** The error of a body that is none, or ends too early. */
export function noBody(bytesParsed = 0): ParserError {
  return Object.assign(new Error('the body is none'), { code: 'HPE_INVALID_EOF_STATE', bytesParsed });
}

/** The bytes of a request's header but its `Upgrade`. */
function headerWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (const [index, name] of rawHeaders.entries()) {
    if (index % 2 === 0 && name.toLowerCase() !== 'upgrade') text += `${name}: ${rawHeaders[index + 1]}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, 'latin1');
}

/**
 * Limits tiny chunks of bodies: `refuse` gets an error with SMALL_CHUNKS_CODE. Call the result with each new request, and without
 * one when the connection is closed.
 */
export function limitChunks(parser: Parser, refuse: (error: ParserError) => void): (request?: IncomingMessage) => void {
  const { 2: onHeader, 3: onBody, 4: onComplete } = parser;
  let credit = 0;
  const count = (chunk: Buffer) => {
    credit += chunk.length - CHUNK_BYTES;
    if (credit >= 0) return onBody?.call(parser, chunk);
    Object.assign(parser, { 2: undefined, 3: undefined, 4: undefined });
    refuse(Object.assign(new Error('too many small chunks'), { code: SMALL_CHUNKS_CODE }));
  };
  return (request) => {
    credit = FREE_CHUNKS * CHUNK_BYTES;
    parser[3] = request?.headers['transfer-encoding'] === undefined ? onBody : count;
    if (request === undefined) Object.assign(parser, { 2: onHeader, 4: onComplete }); // the parser is reused for another connection
  };
}
