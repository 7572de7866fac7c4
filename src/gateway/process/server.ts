import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config.ts';
import {
  ACCEPT_MS,
  CONNECTIONS_CHECK_MS,
  DRAIN_MS,
  HEADERS_MS,
  KEEP_ALIVE_MS,
  RECEIVE_MS,
  STALLED_MS,
} from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import type { Gateway } from '../gateway.ts';
import { createStartingApp } from '../http/app.ts';
import { logRefusedUnread, rawRefusal, refuseAndEnd, requestIdOf } from '../http/refusal.ts';
import { guardRequests, type Serve } from '../http/request-guard.ts';
import { type Logger, safely } from '../log.ts';

/** Options that differ from Node's defaults; `guardRequests` uses the timeout. */
const OPTIONS = {
  headersTimeout: HEADERS_MS,
  requestTimeout: RECEIVE_MS,
  connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  requireHostHeader: false, // Node's own refusal of a missing Host has no body
  joinDuplicateHeaders: true, // a repeated Host, Authorization or Content-Type becomes one value, which is invalid
};

/**
 * Serves a gateway over HTTP. Without one it serves the starting app, until `serve` is called. `options` override single defaults.
 * Rejects with the system's error when the port cannot be used.
 */
export async function listen(
  first: Gateway | undefined,
  config: Config,
  log: Logger,
  { timeout = STALLED_MS, ...options }: Partial<typeof OPTIONS & { timeout: number }> = {},
) {
  const server = createServer({ ...OPTIONS, ...options });
  let gateway = first;
  let app: Pick<Gateway['app'], 'koa' | 'methods'> = gateway?.app ?? createStartingApp(config, log);
  let serve: Serve = app.koa.callback();
  let held: Promise<void> | undefined;
  const serveAfterHold: Serve = (request, answer) =>
    held === undefined ? serve(request, answer) : held.then(() => serve(request, answer));
  guardRequests(server, serveAfterHold, log, config.databasePoolMax);
  server.timeout = timeout;
  // Node before 24.18.1 drops headers after the 1000th, such as a second Host (CVE-2026-58044). 16 kB bound them all.
  server.maxHeadersCount = 0;
  // A client may close its side after the request and wait for the answer; Node has this switch without documenting it.
  Object.assign(server, { httpAllowHalfOpen: true });
  answerOutsideApp(server, log, () => app.methods);
  // Without a host Node takes `::`, which serves IPv4, too, and 0.0.0.0 where there is no IPv6: https://nodejs.org/api/net.html#serverlistenport-host-backlog-callback
  const host = config.host === '::' ? undefined : config.host;
  const { adminPort } = config;
  const admin = createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  if (adminPort !== undefined) await once(admin.listen(adminPort, host), 'listening');
  await once(server.listen(config.port, host), 'listening').catch((error) => {
    admin.close();
    throw error;
  });
  // Emitted for a connection that could not be accepted, as when the process has no file descriptor left.
  const notTaken = safely(log, (error) => log.error({ err: error }, 'a connection was not taken'));
  for (const each of [server, admin]) each.on('error', notTaken);
  const { port } = server.address() as AddressInfo; // an object for every TCP server that listens
  return {
    ...addressOf({ host: config.host, port }),
    probesUrl: addressOf({ host: config.host, port: adminPort ?? port }).url,
    /** Serves a gateway from now on, on the same port and the same connections. */
    serve(started: Gateway): void {
      gateway = started;
      app = started.app;
      serve = app.koa.callback();
    },
    /** Drains: no new connections, the requests in flight end within `graceMs`, then the gateway closes. */
    async close(graceMs = config.shutdownGraceMs): Promise<void> {
      gateway?.drain();
      await closeServer([server, admin], graceMs, (until) => {
        held = until;
      });
      await gateway?.close();
    },
  };
}

/** The address of a server, without a trailing slash, and its port. */
export function addressOf({ host, port }: Pick<Config, 'host' | 'port'>) {
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port };
}

/**
 * Closes a server, and that of ADMIN_PORT, whose connections it serves. It serves for DRAIN_MS more, with `Connection: close`: a load balancer learns by `/readyz` to send
 * nothing any more, and no request meets a reset that is already on its way on an idle connection. `hold` gets a promise
 * that requests wait for. Without a grace, the port is free at once.
 */
async function closeServer(
  ports: readonly [Server, NetServer],
  graceMs: number,
  hold: (until: Promise<void>) => void,
): Promise<void> {
  const [server] = ports;
  setTimeout(() => server.closeAllConnections(), graceMs).unref();
  if (graceMs > 0) {
    await delay(Math.min(DRAIN_MS, graceMs / 2));
    const accepted = acceptPending(server);
    hold(accepted);
    await accepted;
  }
  // The first request of a newly accepted connection may still be on its way.
  setTimeout(() => server.closeIdleConnections(), Math.min(DRAIN_MS, graceMs / 4)).unref();
  await Promise.all(ports.map((port) => new Promise((resolve) => NetServer.prototype.close.call(port, resolve))));
}

/**
 * Waits, for ACCEPT_MS at most, until the server has accepted what the kernel holds for it: closing would reset these
 * connections. A turn of the event loop accepts one: https://github.com/libuv/libuv/blob/v1.x/src/unix/stream.c
 */
async function acceptPending(server: Server): Promise<void> {
  const startedAt = performance.now();
  let hasAccepted = true;
  const note = () => {
    hasAccepted = true;
  };
  server.on('connection', note);
  while (hasAccepted && performance.now() - startedAt < ACCEPT_MS) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}

/**
 * Answers requests that never reach the app, such as those that Node's parser refuses: with an Error body and a request
 * id, which the log has too. Gives every socket an error listener, because Node removes its own from the socket of a
 * CONNECT. `methods` gives the methods of all routes.
 */
function answerOutsideApp(server: Server, log: Logger, methods: () => readonly string[]): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  /** The answer to the last request of a socket; undefined when it has been written completely. */
  const unfinishedAnswerOn = (socket: Duplex) => {
    const answer = answers.get(socket);
    return answer?.writableFinished ? undefined : answer;
  };
  const refuse = (socket: Duplex, error: ApiError, isHead = false) => {
    if (!socket.writable) return void socket.destroy();
    const requestId = randomUUID();
    socket.end(rawRefusal(error, requestId, isHead), () => socket.destroy());
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
      const appsId = answer.getHeader('X-Request-Id'); // set when the request has reached the app, which logs it
      const requestId = String(appsId ?? requestIdOf(answer.req.headers));
      refuseAndEnd(answer, refusal, requestId);
      if (appsId === undefined) logRefusedUnread(log, refusal, requestId, socket);
    }
  };
  const onConnect = (_request: IncomingMessage, socket: Duplex) => {
    const headers = { Allow: methods().toSorted().join(', ') };
    const refusal = new ApiError('method_not_allowed', 'This is no proxy.', { headers });
    afterAnswer(unfinishedAnswerOn(socket), () => refuse(socket, refusal));
  };
  server.on('connection', (socket) => socket.on('error', () => {})); // a client that resets its connection is no fault
  server.prependListener('request', (request, answer) => answers.set(request.socket, answer));
  server.on('clientError', safely(log, onClientError));
  server.on('connect', safely(log, onConnect));
  // Emitted for `Expect`. `100 Continue` is sent when the body is read; RFC 9110 §10.1.1 lets a server ignore any other expectation.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request, answer) => server.emit('request', request, answer));
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
