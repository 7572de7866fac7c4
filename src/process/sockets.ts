import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors.ts';
import { rawRefusal, refuseAndEnd, requestIdOf } from '../http/refusal.ts';
import { type Logger, safely } from '../log.ts';

interface ParserError extends NodeJS.ErrnoException {
  /** What the parser was reading. */
  readonly rawPacket?: Buffer;
}

/**
 * What the parser refuses, and what never reaches the app, gets an Error body, an id and a line in the log, too. Every
 * socket has a listener for errors as long as it lives: Node takes its own away where it hands one over. `methods` are those
 * that some route has.
 */
export function watchSockets(server: Server, log: Logger, methods: readonly string[]): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const refuse = (socket: Duplex, error: ApiError, isHead = false) => {
    if (!socket.writable) return void socket.destroy();
    const requestId = randomUUID();
    socket.end(rawRefusal(error, requestId, isHead), () => socket.destroy());
    log.info({ requestId, status: error.status, reason: error.message }, 'request refused unread');
  };
  const refuseRest = (answer: ServerResponse, error: ApiError) => {
    const given = answer.getHeader('X-Request-Id');
    if (given !== undefined) return refuseAndEnd(answer, error, String(given)); // the app writes its line in the log
    const requestId = requestIdOf(answer.req.headers); // it waits for its turn, see `serveInOrder`
    refuseAndEnd(answer, error, requestId);
    log.info({ requestId, status: error.status, reason: error.message }, 'request refused unread');
  };
  server.on('connection', (socket) => socket.on('error', () => {})); // a connection that breaks is nobody's fault
  server.prependListener('request', (request, answer) => answers.set(request.socket, answer));
  server.on(
    'clientError',
    safely(log, (error: ParserError, socket: Duplex) => {
      if (error.code === 'HPE_PAUSED') return; // no fault: `serveInOrder` has stopped the parser
      const answer = answers.get(socket);
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isOwed(answer) && waitsWhole(answer.req)) return; // the time was that of the answers before it
      // The method is to be seen unless the header came in pieces.
      const isHead = error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
      const answerFault = safely(log, () => refuse(socket, parserRefusal(error), isHead));
      if (!isOwed(answer)) answerFault();
      // Pipelined, RFC 9112 §9.3.2: the requests before it get their own answers first.
      else if (answer.req.complete) answer.once('close', answerFault);
      // Nothing may be mixed into an answer that is being sent.
      else if (answer.headersSent || !socket.writable) socket.destroy();
      else refuseRest(answer, parserRefusal(error));
    }),
  );
  server.on(
    'connect',
    safely(log, (_request: IncomingMessage, socket: Duplex) => {
      const answer = answers.get(socket);
      const allow = { headers: { Allow: methods.toSorted().join(', ') } };
      const refuseIt = safely(log, () =>
        refuse(socket, new ApiError('method_not_allowed', 'This is no proxy.', allow)),
      );
      if (isOwed(answer)) answer.once('close', refuseIt);
      else refuseIt();
    }),
  );
  // An expectation other than 100-continue: RFC 9110 §10.1.1 lets a server ignore it.
  server.on('checkExpectation', (request, answer) => server.emit('request', request, answer));
}

/** Whether a request that waits for its turn has no body that could be late. */
function waitsWhole({ complete, headers }: IncomingMessage): boolean {
  return !complete && headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

/** Whether the request before still waits for its answer. */
function isOwed(answer: ServerResponse | undefined): answer is ServerResponse {
  return answer !== undefined && !answer.writableFinished;
}

function parserRefusal(error: Error & { code?: string | undefined }): ApiError {
  if (error instanceof ApiError) return error; // of `serveInOrder`
  const { code } = error;
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('bad_request', 'The header of the request is too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('bad_request', 'The request did not arrive in time.');
  return new ApiError('bad_request', 'The request is not valid HTTP.');
}
