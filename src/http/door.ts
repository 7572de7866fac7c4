import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { toApiError } from '../errors.ts';
import { oneAtATime } from '../load/pipeline.ts';
import { harmless, type Logger } from '../log.ts';
import { readRequestTarget } from '../web/request-target.ts';
import { refuse } from './refusal.ts';
import { requestIdOf } from './request-id.ts';

/** What serves a request; a promise of it may reject. */
export type Serve = (request: IncomingMessage, answer: ServerResponse) => Promise<unknown>;

/**
 * The one way in: a request whose target or Host is not understood is refused before `serve`, and all that `serve` runs,
 * see it. Whatever `serve` throws, or an answer that cannot be written, goes to the log and no further.
 */
export function guardDoor(serve: Serve, log: Logger): RequestListener {
  const serveInTurn = oneAtATime(harmless(log, serveOne));
  return harmless(log, (request, answer) => {
    answer.on('error', ignore).on('timeout', endStalled);
    serveInTurn(request, answer);
  });

  function serveOne(request: IncomingMessage, answer: ServerResponse): void {
    try {
      readRequestTarget(request);
    } catch (thrown) {
      const error = toApiError(thrown);
      const requestId = requestIdOf(request.headers);
      refuse(answer, error, requestId);
      log.info({ requestId, status: error.status, reason: error.message }, 'request refused unread');
      return;
    }
    serve(request, answer).catch((error) => {
      answer.destroy(); // nobody else will end it
      log.error({ err: error }, 'a request could not be served');
    });
  }
}

/** Who is not there any more needs no answer; the request log says that it was aborted. */
function ignore(): void {}

/**
 * The connection was silent for the server's timeout. One that waits for its answer waits on; one that does not read the
 * answer it has is ended, or its bytes would stay for ever.
 */
function endStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}
