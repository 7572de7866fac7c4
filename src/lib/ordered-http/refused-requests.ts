import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PAUSED_CODE, type ParserError, SMALL_CHUNKS_CODE } from './node-parser.ts';
import { begunAt } from './request-order.ts';

/** Why a request is not served: `late` has not arrived in time, `connect` asks for a tunnel. */
export type Reason = 'not HTTP' | 'long header' | 'late' | 'small chunks' | 'connect';

/** The answer to a request that is not served. Date, Content-Length and Connection are added. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `response` is there when the request's header has been read. Headers of it that are set already stay where they are. */
export type Refuse = (reason: Reason, socket: Duplex, response?: ServerResponse) => Refusal;

const REASONS: Readonly<Record<string, Reason>> = {
  HPE_HEADER_OVERFLOW: 'long header',
  ERR_HTTP_REQUEST_TIMEOUT: 'late',
  [SMALL_CHUNKS_CODE]: 'small chunks',
};

/** How long what comes behind the last answer of a connection is read and dropped, in ms. nginx has the same. */
const LINGER_MS = 5000;

/** Answers what Node's parser refuses, and CONNECT, with what `refuse` gives, and ends the connection. `onFault` gets what `refuse` throws. */
export function answerRefused(server: Server, refuse: Refuse, onFault: (error: unknown) => void): void {
  const drops = dropWhatFollows(server);
  const unfinishedAnswerOn = watchAnswers(server, drops.has);
  const attempt = (socket: Duplex, work: () => void) => {
    try {
      work();
    } catch (error) {
      socket.destroy();
      onFault(error);
    }
  };
  const refuseRaw = (reason: Reason, socket: Duplex, isHead: boolean) => {
    if (!socket.writable) return void socket.destroy();
    linger(socket, rawAnswer(refuse(reason, socket), isHead));
  };
  /** RFC 9112 §9.3.2: the answers to earlier pipelined requests are sent first. */
  const refuseAfter = (earlier: ServerResponse | undefined, reason: Reason, socket: Duplex, isHead = false) => {
    const refuseNow = () => refuseRaw(reason, socket, isHead);
    if (earlier === undefined) return refuseNow();
    // Before Node's own listener, which ends the connection where the client has ended its side.
    earlier.prependOnceListener('finish', () => isLast(earlier) || attempt(socket, refuseNow));
  };
  const onClientError = (error: ParserError, socket: Duplex) => {
    if (error.code === PAUSED_CODE) return; // `serveInOrder` has paused the parser
    if (drops.has(socket)) return drops.note(socket); // llhttp gives its error for each further packet, too
    const reason = REASONS[error.code ?? ''] ?? 'not HTTP';
    const answer = unfinishedAnswerOn(socket);
    const leftMs = reason === 'late' && answer ? timeLeft(answer.req, server.requestTimeout) : 0;
    if (leftMs > 0) {
      // Node tells once. A connection that has ended meanwhile must not be kept by this.
      const tell = () => answer?.req.complete || socket.destroyed || server.emit('clientError', error, socket);
      return void setTimeout(tell, leftMs).unref();
    }
    drops.note(socket);
    if (answer === undefined || answer.req.complete) return refuseAfter(answer, reason, socket, refusesHead(error));
    // Its answer is out: a second one would be taken for that of the next request.
    if (answer.writableFinished && socket.writable) return linger(socket);
    // A refusal must not be mixed into an answer that is being sent.
    if (answer.headersSent || !socket.writable) return void socket.destroy();
    // Its body will not arrive: it is answered in place of the handler, and the connection is closed.
    answer.shouldKeepAlive = false;
    socket.once('close', () => answer.req.destroy()); // nothing else tells its handler
    send(answer, refuse(reason, socket, answer));
  };
  server.on('clientError', (error, socket) => attempt(socket, () => onClientError(error, socket)));
  server.on('connect', (_request, socket) => {
    const earlier = unfinishedAnswerOn(socket);
    drops.note(socket);
    // Node has taken its own listeners from it: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js
    socket.on('data', () => drops.note(socket)).on('timeout', () => endStalled(socket));
    socket.on('drain', () => earlier?.emit('drain'));
    attempt(socket, () => refuseAfter(earlier, 'connect', socket));
  });
  // Emitted for `Expect`. `100 Continue` is sent when the body is read; RFC 9110 §10.1.1 lets a server ignore any other expectation.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request, answer) => server.emit('request', request, answer));
}

/**
 * Gives the answer to the last request of a socket; undefined when both are complete. Gives every socket an error listener,
 * because Node removes its own from the socket of a CONNECT. A connection whose last answer comes before the whole of its
 * request is read on, as one is that is kept; `isRefused` tells of those whose request will not be understood.
 */
function watchAnswers(server: Server, isRefused: (socket: Duplex) => boolean) {
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {}); // a client that resets its connection is no fault
    const { destroySoon } = socket;
    // Node calls it behind the last answer: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js
    socket.destroySoon = () => {
      const request = answers.get(socket)?.req;
      if (request === undefined || request.complete) return destroySoon.call(socket);
      if (isRefused(socket)) return linger(socket);
      socket.end().setTimeout(LINGER_MS); // it ends when nothing comes; a request that is late is refused
    };
  });
  server.prependListener('request', (request, answer) => {
    answers.set(request.socket, answer);
    // An answer fails when its client has gone: `close` tells. An idle connection would keep its last request, and so its body.
    const forget = () => request.complete && answers.get(request.socket) === answer && answers.delete(request.socket);
    answer.on('error', () => {}).on('timeout', endStalled);
    answer.on('close', forget);
  });
  return (socket: Duplex): ServerResponse | undefined => {
    const answer = answers.get(socket);
    return answer?.writableFinished && answer.req.complete ? undefined : answer;
  };
}

/** Whether an answer says that the connection is closed behind it. */
function isLast(answer: ServerResponse): boolean {
  return !answer.shouldKeepAlive || answer.getHeader('Connection') === 'close';
}

/**
 * Ends our side of a connection behind `last`, and all of it when the client has ended its own, or after LINGER_MS: what still comes
 * would be answered by a reset, which may take the answer from the client (RFC 9112 §9.6).
 */
function linger(socket: Duplex, last = ''): void {
  socket.end(last, () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  });
}

/**
 * Closes a connection whose client has not read its answer for the server's timeout, because unsent bytes stay in memory. Without
 * unsent bytes the client waits for its answer, and the connection stays open.
 */
function endStalled(socket: Duplex): void {
  if (socket.writableLength > 0) socket.destroy();
}

/**
 * The sockets whose last request is refused; `note` is for that, and for each packet behind it, which is dropped. It is read, because
 * unread bytes would make the end of the connection a reset (RFC 9112 §9.6). But it keeps Node's timer of the socket from
 * firing: a client that sends and reads nothing is found here.
 */
function dropWhatFollows(server: Server) {
  const refused = new WeakMap<Duplex, { unsent: number; since: number }>();
  return {
    has: (socket: Duplex) => refused.has(socket),
    note(socket: Duplex): void {
      const { unsent, since } = refused.get(socket) ?? { unsent: -1, since: 0 };
      const now = performance.now();
      if (socket.writableLength !== unsent) refused.set(socket, { unsent: socket.writableLength, since: now });
      else if (now - since > (server.timeout || Number.POSITIVE_INFINITY)) endStalled(socket); // 0 is no limit
    },
  };
}

/**
 * The part of `requestTimeout` that is left to an incomplete request that had to wait. Node times a request from its first byte, but
 * while it waits nothing more of it is read: it has its time from when it begins.
 */
function timeLeft(request: IncomingMessage, requestTimeout: number): number {
  const begun = begunAt.get(request);
  if (begun === undefined || request.complete) return 0; // complete: it is the next one that is late
  return Math.min(begun + requestTimeout - performance.now(), requestTimeout);
}

/**
 * Whether the parser refuses a HEAD. What it refuses begins with the packet, or behind the last empty line before the error. It is
 * taken for none where that is unknown: its header came in several packets, or behind a body that is no chunks.
 */
function refusesHead({ rawPacket, bytesParsed }: ParserError): boolean {
  const read = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  return /^\s*HEAD /.test(read.slice(read.lastIndexOf('\r\n\r\n') + 1));
}

/** The answer as an HTTP message that closes the connection, for a socket whose request Node could not parse. */
function rawAnswer({ status, headers, body }: Refusal, isHead: boolean): string {
  const date = new Date().toUTCString();
  const fields = { Date: date, ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map((field) => field.join(': '));
  // RFC 9110 §9.3.2: the answer to HEAD has no body.
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${isHead ? '' : body}`;
}

function send(answer: ServerResponse, { status, headers, body }: Refusal): void {
  for (const [name, value] of Object.entries(headers)) answer.setHeader(name, value);
  answer.setHeader('Content-Length', Buffer.byteLength(body));
  answer.writeHead(status);
  answer.end(answer.req.method === 'HEAD' ? undefined : body);
}
