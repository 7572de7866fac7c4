import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors.ts';

/** A connection as Node's server knows it, undocumented: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js */
interface Connection extends Socket {
  parser: Parser | null;
}

/**
 * Its callbacks 2, 3 and 4 tell of a complete header, a piece of a body and a complete request; without one the parser passes
 * over it: https://github.com/nodejs/node/blob/v24.x/src/node_http_parser.cc
 */
interface Parser {
  2?: unknown;
  3?: ((piece: Buffer) => void) | undefined;
  4?: unknown;
  /** Called with each request whose header is complete; what it returns tells the parser how to go on. */
  onIncoming(request: IncomingMessage & { upgrade: boolean }, keepAlive: boolean): number;
  resume(): void;
}

/** The requests of a connection. */
interface Queue {
  /** One of them is being served. */
  isBusy: boolean;
  /** Those whose turn has not come: one, or a few when Node itself resumed the connection. */
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** The bytes behind them have been put back once: the connection is read as a stream from then on. */
  isStream: boolean;
}

/** What a parser's callback returns to stop it: https://github.com/nodejs/llhttp/blob/main/src/llhttp/constants.ts */
const STOP = 21;
const STOPPED = 'HPE_PAUSED';
const WAITING_MAX = 16;
/** A chunk of a body costs an object and some µs, however short it is: beyond so many, each needs so many bytes. */
const PIECES_FREE = 1024;
const PIECE_BYTES = 64;
/** Empty, but at an address: the parser takes a null pointer for the end of the connection. */
const NO_BYTES = Buffer.alloc(1).subarray(1);

/**
 * Serves the requests of a connection one after the other, in the order that their answers must have (RFC 9112 §9.3.2). The
 * parser stops behind the header of a request that must wait: what follows stays bytes, at most 128 kB, until its turn.
 * Gives the connections without a request, the one that has had none for the longest time first.
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
    const countPieces = boundPieces(parser, (error) => server.emit('clientError', error, connection));
    connection.once('close', () => {
      idle.delete(connection);
      countPieces();
    });
    const onIncoming = parser.onIncoming;
    parser.onIncoming = (request, keepAlive) => {
      const { upgrade } = request; // behind such a request the parser stops by itself, and the rest of its chunk is lost
      countPieces(request);
      const verdict = onIncoming(request, keepAlive && !upgrade);
      return queue.waiting.length > 0 && !upgrade ? STOP : verdict;
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
    if (error.code !== STOPPED || queue === undefined) return;
    if (!queue.isStream) readAsStream(socket as Connection, queue);
    socket.pause();
    socket.unshift(error.rawPacket?.subarray(error.bytesParsed) ?? NO_BYTES);
  });

  const begin = (connection: Connection, queue: Queue, request: IncomingMessage, answer: ServerResponse): void => {
    answer.once('close', () => {
      if (queue.waiting.length > 0) return void setImmediate(beginNext, connection, queue); // after the other connections
      queue.isBusy = false;
      if (!connection.destroyed) idle.add(connection);
    });
    if (!answer.headersSent) serve(request, answer); // else its body was refused while it waited
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

/** The parser reads the connection itself until somebody listens for its data. */
function readAsStream(connection: Connection, queue: Queue): void {
  queue.isStream = true;
  connection.on('data', ignore).off('data', ignore);
  connection._read(0); // the parser may have stopped the reading
  // Node resumes a connection when an answer could be written, too.
  connection.on('resume', () => void (queue.waiting.length > 0 && connection.pause()));
}

function ignore(): void {}

/** Bounds the chunks of a connection's bodies: to be called with each request, and without one when the connection is closed. */
function boundPieces(parser: Parser, refuse: (error: ApiError) => void): (request?: IncomingMessage) => void {
  const { 2: onHeader, 3: onBody, 4: onComplete } = parser;
  let room = 0;
  const count = (piece: Buffer) => {
    room += piece.length - PIECE_BYTES;
    if (room >= 0) return onBody?.call(parser, piece);
    Object.assign(parser, { 2: undefined, 3: undefined, 4: undefined });
    refuse(new ApiError('bad_request', 'The body comes in too many small chunks.'));
  };
  return (request) => {
    room = PIECES_FREE * PIECE_BYTES;
    parser[3] = request?.headers['transfer-encoding'] === undefined ? onBody : count;
    if (request === undefined) Object.assign(parser, { 2: onHeader, 4: onComplete }); // for the next connection
  };
}
