import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { toApiError } from '../errors.ts';
import { connectionsMost, limitConnections } from '../load/connection-limit.ts';
import { serveInOrder } from '../load/pipeline.ts';
import { type Logger, safely } from '../log.ts';
import { readRequestTarget } from '../web/request-target.ts';
import { refuse, requestIdOf } from './refusal.ts';

/** What serves a request; a promise of it may reject. */
export type Serve = (request: IncomingMessage, answer: ServerResponse) => Promise<unknown>;

/**
 * The request guard, the one way in: a request whose target or Host is not understood is refused before `serve`, and all that
 * `serve` runs, see it. Whatever `serve` throws, or an answer that cannot be written, goes to the log and no further.
 */
export function guardRequests(server: Server, serve: Serve, log: Logger, databaseConnections = 0): void {
  const serveOne = (request: IncomingMessage, answer: ServerResponse): void => {
    answer.on('error', ignore).on('timeout', endStalled);
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
  };
  const idle = serveInOrder(server, safely(log, serveOne));
  limitConnections(server, idle, connectionsMost(databaseConnections), log);
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
