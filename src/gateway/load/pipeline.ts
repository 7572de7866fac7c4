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
  /** Called with what was parsed of a chunk that the parser read from the socket directly. */
  5(parsed: Parsed): void;
  execute(chunk: Buffer): Parsed;
  /** The request that the parser reads. */
  incoming: IncomingMessage | null;
  /** Called with each request whose header is complete; its result tells the parser how to continue. */
  onIncoming(request: IncomingMessage & { upgrade: boolean }, keepAlive: boolean): number;
  resume(): void;
}

/** An error of the parser, as Node gives it to `clientError`; `again` is what the parser must read once more. */
type ParserError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number; again?: Buffer };

interface Queue {
  /** Whether a request of the connection is in flight. */
  isBusy: boolean;
  /** The queued requests: one, or a few when Node itself has resumed the connection. */
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** Whether bytes were put back by `unshift`. From then on the connection is read as a stream. */
  isStream: boolean;
}

/** Results of `onIncoming`: pause the parser, or take the request as one without a body. https://github.com/nodejs/llhttp/blob/main/src/llhttp/constants.ts */
const HPE_PAUSED = 21;
const SKIP_BODY = 2;
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
    const { onIncoming } = parser;
    parser.onIncoming = (request, keepAlive) => {
      countChunks(request);
      const verdict = onIncoming(request, keepAlive);
      if (!request.upgrade) return queue.waiting.length > 0 ? HPE_PAUSED : verdict;
      connection.off('close', release); // CONNECT: from now on, another connection may have the parser
      release();
      return verdict;
    };
    const endUpgrades = ignoreUpgrades(parser);
    const release = () => {
      countChunks();
      endUpgrades();
    };
    connection.once('close', () => idle.delete(connection)).once('close', release);
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

  server.on('clientError', (error: ParserError, socket) => {
    const queue = queues.get(socket as Socket); // the only kind of stream that this server is given
    if (error.code !== PAUSED_CODE || queue === undefined) return;
    if (!queue.isStream) readAsStream(socket as Connection, queue);
    if (queue.waiting.length > 0) socket.pause();
    const rest = error.rawPacket?.subarray(error.bytesParsed) ?? NO_BYTES;
    socket.unshift(error.again ? Buffer.concat([error.again, rest]) : rest);
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
 * Makes the parser read a request that asks for another protocol once more, as one that does not: a server may ignore that
 * (RFC 9110 §7.8). Otherwise the parser would stop at its end, and hide all errors until the next header. Call the result when the
 * connection leaves the parser.
 */
function ignoreUpgrades(parser: Parser): () => void {
  const { 5: onParsed, execute, onIncoming } = parser;
  let again: Buffer | undefined;
  const readAgain = (parsed: Parsed): Parsed => {
    if (again === undefined || typeof parsed !== 'number') return parsed;
    const error = Object.assign(new Error('a header is read again'), { code: PAUSED_CODE, bytesParsed: parsed, again });
    again = undefined;
    return error;
  };
  const executeAgain = (chunk: Buffer) => readAgain(execute.call(parser, chunk));
  parser.execute = executeAgain;
  parser[5] = (parsed) => onParsed(readAgain(parsed));
  parser.onIncoming = (request, keepAlive) => {
    if (!request.upgrade || request.method === 'CONNECT') return onIncoming(request, keepAlive);
    parser.incoming = null;
    again = headerWithoutUpgrade(request);
    return SKIP_BODY;
  };
  return () => {
    parser.execute = execute;
  };
}

/** The bytes of a request's header but its `Upgrade`. */
function headerWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (const [index, name] of rawHeaders.entries()) {
    if (index % 2 === 0 && name.toLowerCase() !== 'upgrade') text += `${name}: ${rawHeaders[index + 1]}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, 'latin1');
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
