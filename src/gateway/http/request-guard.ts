import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { toApiError } from '../errors.ts';
import { limitConnections, maxConnections } from '../load/connection-limit.ts';
import { serveInOrder } from '../load/pipeline.ts';
import { type Logger, safely } from '../log.ts';
import { readRequestTarget } from '../web/request-target.ts';
import { logRefusedUnread, refuse, requestIdOf } from './refusal.ts';

/** Serves a request. The promise may reject. */
export type Serve = (request: IncomingMessage, answer: ServerResponse) => Promise<unknown>;

/**
 * The request guard, which all requests of a server pass. It refuses a request with an invalid target or Host before `serve`
 * is called. An error of `serve`, or of writing the answer, is logged and never ends the process.
 */
export function guardRequests(server: Server, serve: Serve, log: Logger, databaseConnections = 0): void {
  const serveOne = (request: IncomingMessage, answer: ServerResponse): void => {
    // An answer fails when its client has gone. The request log notes that as `aborted`.
    answer.on('error', () => {}).on('timeout', endStalled);
    // The connection was reset before its request was read: nobody waits for an answer, and the address is unknown.
    if (request.socket.remoteAddress === undefined) return void request.socket.destroy();
    try {
      readRequestTarget(request);
    } catch (thrown) {
      const error = toApiError(thrown);
      const requestId = requestIdOf(request.headers);
      refuse(answer, error, requestId);
      logRefusedUnread(log, error, requestId, request.socket);
      return;
    }
    serve(request, answer).catch((error) => {
      answer.destroy(); // Koa did not end it
      log.error({ err: error }, 'a request could not be served');
    });
  };
  const idle = serveInOrder(server, safely(log, serveOne));
  limitConnections(server, idle, maxConnections(databaseConnections), log);
}

/**
 * Closes a connection whose client has not read its answer for the server's timeout, because unsent bytes stay in memory. Without
 * unsent bytes the client waits for its answer, and the connection stays open.
 */
function endStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}
