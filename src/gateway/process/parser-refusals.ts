import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors.ts';
import {
  errorAnswer,
  logRefusedUnread,
  rawAnswer,
  refuseUnread,
  requestIdOf,
  sendAnswer,
  writeRestError,
} from '../http/answer.ts';
import { type Logger, safely } from '../log.ts';

/**
 * Answers requests that never reach the app, such as those that Node's parser refuses: with an Error body and a request
 * id, which the log has too. Gives every socket an error listener, because Node removes its own from the socket of a
 * CONNECT. `methods` gives the methods of all routes.
 */
export function answerOutsideApp(server: Server, log: Logger, methods: () => readonly string[]): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  /** The answer to the last request of a socket; undefined when it has been written completely. */
  const unfinishedAnswerOn = (socket: Duplex) => {
    const answer = answers.get(socket);
    return answer?.writableFinished ? undefined : answer;
  };
  const refuse = (socket: Duplex, error: ApiError, isHead = false) => {
    if (!socket.writable) return void socket.destroy();
    const requestId = randomUUID();
    const answer = errorAnswer(error, writeRestError(error, {}));
    socket.end(rawAnswer(answer, requestId, isHead), () => socket.destroy());
    logRefusedUnread(log, error, requestId, socket);
  };
  /** RFC 9112 §9.3.2: the answers to earlier pipelined requests are sent first. */
  const afterAnswer = (unfinished: ServerResponse | undefined, send: () => void) =>
    unfinished === undefined ? send() : unfinished.once('close', safely(log, send));
  const onClientError = (error: Error & { code?: string; rawPacket?: Buffer }, socket: Duplex) => {
    if (error.code === 'HPE_PAUSED') return; // `serveInOrder` has paused the parser
    const answer = unfinishedAnswerOn(socket);
    // A pipelined request without a body has arrived whole: it waits only for the answers before it.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && answer !== undefined && hasNoBody(answer.req)) return;
    const refusal = parserRefusal(error);
    // `rawPacket` begins with the method, unless the header came in several packets.
    const isHead = error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
    if (answer === undefined || answer.req.complete) afterAnswer(answer, () => refuse(socket, refusal, isHead));
    // A refusal must not be mixed into an answer that is being sent.
    else if (answer.headersSent || !socket.writable) socket.destroy();
    else {
      // Its body will not arrive: it is answered without the app, and the connection is closed.
      answer.shouldKeepAlive = false;
      answer.once('finish', () => answer.req.destroy());
      const appsId = answer.getHeader('X-Request-Id'); // set when the request has reached the app, which logs it
      if (appsId !== undefined) sendAnswer(answer, errorAnswer(refusal, writeRestError(refusal, {})));
      else refuseUnread(answer, refusal, requestIdOf(answer.req.headers), log);
    }
  };
  const onConnect = (_request: IncomingMessage, socket: Duplex) => {
    const headers = { Allow: methods().toSorted().join(', ') };
    const refusal = new ApiError('method_not_allowed', 'This is no proxy.', { headers });
    afterAnswer(unfinishedAnswerOn(socket), () => refuse(socket, refusal));
  };
  server.on('connection', (socket) => socket.on('error', () => {})); // a client that resets its connection is no fault
  server.prependListener('request', (request, answer) => {
    answers.set(request.socket, answer);
    // An answer fails when its client has gone. The request log notes that as `aborted`.
    answer.on('error', () => {}).on('timeout', endStalled);
  });
  server.on('clientError', safely(log, onClientError));
  server.on('connect', safely(log, onConnect));
  // Emitted for `Expect`. `100 Continue` is sent when the body is read; RFC 9110 §10.1.1 lets a server ignore any other expectation.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request, answer) => server.emit('request', request, answer));
}

/**
 * Closes a connection whose client has not read its answer for the server's timeout, because unsent bytes stay in memory. Without
 * unsent bytes the client waits for its answer, and the connection stays open.
 */
function endStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** Whether a request that is not yet complete declares no body. */
function hasNoBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

function parserRefusal(error: Error & { code?: string }): ApiError {
  if (error instanceof ApiError) return error; // thrown by `serveInOrder`
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new ApiError('bad_request', 'The header of the request is too large.');
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError('bad_request', 'The request did not arrive in time.');
  return new ApiError('bad_request', 'The request is not valid HTTP.');
}
