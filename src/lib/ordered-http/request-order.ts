import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type Connection,
  HPE_PAUSED,
  ignoreUpgrades,
  limitChunks,
  NO_BYTES,
  noBody,
  PAUSED_CODE,
  type Parser,
  type ParserError,
  SKIP_BODY,
  tooManyLines,
} from './node-parser.ts';

interface Queue {
  /** Whether a request of the connection is in flight. */
  isBusy: boolean;
  /** The queued requests: one, or a few when Node itself has resumed the connection. */
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** Whether bytes were put back by `unshift`. From then on the connection is read as a stream. */
  isStream: boolean;
}

const WAITING_MAX = 16;

/** When a request that had to wait was begun, by performance.now(): never, Infinity, while it waits. */
export const begunAt = new WeakMap<IncomingMessage, number>();

/** The connections without a request, by when that began: since when, by performance.now(), and how many bytes had come until then. */
export type IdleConnections = Map<Socket, { readonly since: number; readonly bytesRead: number }>;

/**
 * Serves the requests of a connection one after the other, in the order of their answers (RFC 9112 §9.3.2). The parser pauses
 * after the header of a queued request; the bytes after it stay unparsed, at most 128 kB. `serve` gives the
 * function that serves a request, which never throws. Gives the idle connections, longest idle first.
 */
export function serveInOrder(server: Server, serve: () => RequestListener): IdleConnections {
  const idle: IdleConnections = new Map();
  const noteIdle = (connection: Connection) =>
    idle.set(connection, { since: performance.now(), bytesRead: connection.bytesRead });
  const queues = new WeakMap<Socket, Queue>();

  server.on('connection', (connection: Connection) => {
    const { parser } = connection;
    if (parser === null) return;
    const queue: Queue = { isBusy: false, waiting: [], isStream: false };
    queues.set(connection, queue);
    noteIdle(connection);
    connection.once('close', () => idle.delete(connection));
    pauseWhileWaiting(connection, parser, queue, (error) => server.emit('clientError', error, connection));
  });

  server.on('request', (request, answer) => {
    const connection = request.socket as Connection; // of this server
    const queue = queues.get(connection);
    if (queue === undefined) return serve()(request, answer);
    if (queue.isBusy) {
      queue.waiting.push([request, answer]);
      begunAt.set(request, Number.POSITIVE_INFINITY);
      if (queue.waiting.length > WAITING_MAX) connection.destroy();
      return;
    }
    idle.delete(connection);
    queue.isBusy = true;
    begin(connection, queue, request, answer);
  });

  server.on('clientError', (error: ParserError, socket) => {
    const queue = queues.get(socket as Socket); // the only kind of stream that this server is given
    if (error.code === PAUSED_CODE && queue !== undefined) putBack(error, socket as Connection, queue);
  });

  const begin = (connection: Connection, queue: Queue, request: IncomingMessage, answer: ServerResponse): void => {
    answer.on('close', () => {
      if (queue.waiting.length > 0) return void setImmediate(beginNext, connection, queue); // after other connections' requests
      queue.isBusy = false;
      if (connection.destroyed) return;
      noteIdle(connection);
      // Its body may come after its answer: these bytes are no next request.
      if (!request.complete) request.once('close', () => idle.has(connection) && noteIdle(connection));
    });
    // Not what was refused while it was queued, nor what came behind an answer with `Connection: close` (RFC 9112 §9.6).
    if (!answer.headersSent && connection.writable) serve()(request, answer);
  };

  const beginNext = (connection: Connection, queue: Queue): void => {
    const next = queue.waiting.shift();
    if (next === undefined || connection.destroyed) return;
    begunAt.set(next[0], performance.now());
    begin(connection, queue, ...next);
    if (queue.waiting.length === 0) readOn(connection);
  };
  return idle;
}

/** Makes the parser pause behind a request that has to wait. `refuse` gets the error of a body in too many small chunks. */
function pauseWhileWaiting(
  connection: Connection,
  parser: Parser,
  queue: Queue,
  refuse: (error: ParserError) => void,
): void {
  const countChunks = limitChunks(parser, refuse);
  const upgrades = ignoreUpgrades(parser);
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    const overflow = tooManyLines(request);
    if (overflow) {
      refuse(overflow);
      return SKIP_BODY;
    }
    const isLast = upgrades.isLast(request, keepAlive); // Node ignores the upgrade, and its parser stops behind the request
    if (!isLast && upgrades.ignores(request)) return SKIP_BODY;
    if (isLast) connection.once('end', () => void (request.complete || refuse(noBody())));
    countChunks(request);
    const verdict = onIncoming(request, keepAlive);
    if (!request.upgrade) return queue.waiting.length > 0 && !isLast ? HPE_PAUSED : verdict;
    connection.off('close', release); // CONNECT: from now on, another connection may have the parser
    release();
    return verdict;
  };
  const release = () => {
    countChunks();
    upgrades.release();
  };
  connection.once('close', release);
}

/** Gives the connection what the parser has not read, and pauses it while a request waits. */
function putBack(error: ParserError, connection: Connection, queue: Queue): void {
  if (!queue.isStream) readAsStream(connection, queue);
  if (queue.waiting.length > 0) connection.pause();
  const rest = error.rawPacket?.subarray(error.bytesParsed) ?? NO_BYTES;
  connection.unshift(error.again ? Buffer.concat([error.again, rest]) : rest);
}

function readOn(connection: Connection): void {
  if (!connection.parser) return;
  connection.parser.resume();
  connection.emit('data', NO_BYTES); // completes a request without a body
  connection.resume();
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
