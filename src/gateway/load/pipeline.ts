import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors.ts';

/** Node's undocumented property of a server's connection: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js */
interface Connection extends Socket {
  parser: Parser | null;
}

/** What `execute` gives: how many bytes of a chunk were parsed, or an error. */
type Parsed = number | Error;

/**
 * Callback 2 is for a complete header, 3 for a chunk of a body, 4 for a complete request. The parser skips a missing callback:
 * https://github.com/nodejs/node/blob/v24.x/src/node_http_parser.cc
 */
interface Parser {
  2?: unknown;
  3?: ((chunk: Buffer) => void) | undefined;
  4?: unknown;
  /** Called with what was parsed of a chunk that the parser read from the socket directly; `getCurrentBuffer` is that chunk. */
  5(parsed: Parsed): void;
  getCurrentBuffer(): Buffer;
  execute(chunk: Buffer): Parsed;
  /** Called with each request whose header is complete; its result tells the parser how to continue. */
  onIncoming(request: IncomingMessage & { upgrade: boolean }, keepAlive: boolean): number;
  resume(): void;
}

interface Queue {
  /** Whether a request of the connection is in flight. */
  isBusy: boolean;
  /** The queued requests: one, or a few when Node itself has resumed the connection. */
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** Whether bytes were put back by `unshift`. From then on the connection is read as a stream. */
  isStream: boolean;
}

/** The result of a callback that pauses the parser: https://github.com/nodejs/llhttp/blob/main/src/llhttp/constants.ts */
const HPE_PAUSED = 21;
const PAUSED_CODE = 'HPE_PAUSED';
const WAITING_MAX = 16;
/** Tiny chunks are costly: each takes an object and some µs. Beyond FREE_CHUNKS they must have CHUNK_BYTES on average. */
const FREE_CHUNKS = 1024;
const CHUNK_BYTES = 64;
/** Empty, with a valid pointer: a null pointer would mean the end of the connection to the parser. */
const NO_BYTES = Buffer.alloc(1).subarray(1);

/**
 * Serves the requests of a connection one after the other, in the order of their answers (RFC 9112 §9.3.2). The parser pauses
 * after the header of a queued request; the bytes after it stay unparsed, at most 128 kB. Gives the idle connections, longest
 * idle first.
 */
export function serveInOrder(server: Server, serve: RequestListener): Set<Socket> {
  const idle = new Set<Socket>();
  const queues = new WeakMap<Socket, Queue>();

  server.on('connection', (connection: Connection) => {
    const { parser } = connection;
    if (parser === null) return;
    const queue: Queue = { isBusy: false, waiting: [], isStream: false };
    queues.set(connection, queue);
    idle.add(connection);
    const countChunks = limitChunks(parser, (error) => server.emit('clientError', error, connection));
    const followUpgrade = ignoreUpgrades(parser, () => queue.waiting.length > 0);
    connection.once('close', () => {
      idle.delete(connection);
      countChunks();
      followUpgrade();
    });
    const onIncoming = parser.onIncoming;
    parser.onIncoming = (request, keepAlive) => {
      const { upgrade } = request; // Node makes it false where it is ignored: for all but CONNECT
      countChunks(request);
      const verdict = onIncoming(request, keepAlive);
      followUpgrade(request.upgrade ? undefined : request, upgrade);
      return queue.waiting.length > 0 && !request.upgrade ? HPE_PAUSED : verdict;
    };
  });

  server.on('request', (request, answer) => {
    const connection = request.socket as Connection; // of this server
    const queue = queues.get(connection);
    if (queue === undefined) return serve(request, answer);
    if (queue.isBusy) {
      queue.waiting.push([request, answer]);
      if (queue.waiting.length > WAITING_MAX) connection.destroy();
      return;
    }
    idle.delete(connection);
    queue.isBusy = true;
    begin(connection, queue, request, answer);
  });

  server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }, socket) => {
    const queue = queues.get(socket as Socket); // the only kind of stream that this server is given
    if (error.code !== PAUSED_CODE || queue === undefined) return;
    if (!queue.isStream) readAsStream(socket as Connection, queue);
    if (queue.waiting.length > 0) socket.pause();
    socket.unshift(error.rawPacket?.subarray(error.bytesParsed) ?? NO_BYTES);
  });

  const begin = (connection: Connection, queue: Queue, request: IncomingMessage, answer: ServerResponse): void => {
    answer.once('close', () => {
      if (queue.waiting.length > 0) return void setImmediate(beginNext, connection, queue); // after other connections' requests
      queue.isBusy = false;
      if (!connection.destroyed) idle.add(connection);
    });
    if (!answer.headersSent) serve(request, answer); // else it was refused while it was queued
  };

  const beginNext = (connection: Connection, queue: Queue): void => {
    const next = queue.waiting.shift();
    if (next === undefined || connection.destroyed) return;
    begin(connection, queue, ...next);
    if (queue.waiting.length > 0 || !connection.parser) return;
    connection.parser.resume();
    connection.emit('data', NO_BYTES); // completes a request without a body
    connection.resume();
  };
  return idle;
}

/** Makes the connection a stream. Without a listener for `data`, the parser would read from the socket directly. */
function readAsStream(connection: Connection, queue: Queue): void {
  queue.isStream = true;
  const ignore = () => {};
  connection.on('data', ignore).off('data', ignore);
  connection._read(0); // the parser may have stopped reading
  // Node also resumes a connection after the write of an answer.
  connection.on('resume', () => void (queue.waiting.length > 0 && connection.pause()));
}

/**
 * Lets a connection go on after a request with an `Upgrade` that is ignored (RFC 9110 §7.8). Node's parser stops at the end of such
 * a request, and then tells neither that bytes are left nor an error. Here both become the errors that it gives otherwise. Call the
 * result with each new request and whether it has one, and without a request at the end of HTTP on the connection.
 */
function ignoreUpgrades(parser: Parser, isWaiting: () => boolean) {
  const { 5: onParsed, execute } = parser;
  let last: IncomingMessage | undefined;
  let hasEnded = false;
  const check = (parsed: Parsed, readChunk: () => Buffer): Parsed => {
    if (last === undefined || typeof parsed !== 'number') return parsed;
    const endsHere = last.complete && !hasEnded;
    hasEnded = last.complete;
    if (parsed === readChunk().length && !isWaiting()) return parsed;
    const code = endsHere || isWaiting() ? PAUSED_CODE : 'HPE_USER';
    return Object.assign(new Error('the rest of a chunk was not parsed'), { code, bytesParsed: parsed });
  };
  const executeChecked = (chunk: Buffer) => check(execute.call(parser, chunk), () => chunk);
  parser[5] = (parsed) => onParsed(check(parsed, () => parser.getCurrentBuffer()));
  parser.execute = executeChecked;
  return (request?: IncomingMessage, hasUpgrade = false): void => {
    last = hasUpgrade ? request : undefined;
    hasEnded = false;
    if (request === undefined && parser.execute === executeChecked) parser.execute = execute; // another connection may have it
  };
}

/** Limits tiny chunks of bodies. Call the result with each new request, and without one when the connection is closed. */
function limitChunks(parser: Parser, refuse: (error: ApiError) => void): (request?: IncomingMessage) => void {
  const { 2: onHeader, 3: onBody, 4: onComplete } = parser;
  let credit = 0;
  const count = (chunk: Buffer) => {
    credit += chunk.length - CHUNK_BYTES;
    if (credit >= 0) return onBody?.call(parser, chunk);
    Object.assign(parser, { 2: undefined, 3: undefined, 4: undefined });
    refuse(new ApiError('bad_request', 'The body comes in too many small chunks.'));
  };
  return (request) => {
    credit = FREE_CHUNKS * CHUNK_BYTES;
    parser[3] = request?.headers['transfer-encoding'] === undefined ? onBody : count;
    if (request === undefined) Object.assign(parser, { 2: onHeader, 4: onComplete }); // the parser is reused for another connection
  };
}
