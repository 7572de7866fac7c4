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
    // An answer fails when its client has gone: the request log has that as `aborted`.
    answer.on('error', () => {}).on('timeout', endStalled);
    // Reset before its first request was read: nobody waits for an answer, and no log could say who asked.
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
 * Ends a connection that was idle for the server's timeout with bytes left to send: its client does not read, and the bytes
 * would stay in memory. Without such bytes, the client waits for its answer, and the connection stays.
 */
function endStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}
