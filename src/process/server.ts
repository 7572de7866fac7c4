import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Config } from '../config.ts';
import { CONNECTIONS_CHECK_MS, HEADERS_MS, KEEP_ALIVE_MS, LINGER_MS, RECEIVE_MS, STALLED_MS } from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import type { Gateway } from '../gateway.ts';
import { rawRefusal, refuseAndEnd, requestIdOf } from '../http/refusal.ts';
import { guardRequests } from '../http/request-guard.ts';
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
 * Serves the gateway over HTTP. `options` replace single ones of the usual options. Rejects with the system's error
 * when the port cannot be used.
 */
export async function listen(
  gateway: Gateway,
  config: Pick<Config, 'host' | 'port' | 'shutdownGraceMs' | 'databasePoolMax'>,
  log: Logger,
  { timeout = STALLED_MS, ...options }: Partial<typeof OPTIONS & { timeout: number }> = {},
) {
  const server = createServer({ ...OPTIONS, ...options });
  guardRequests(server, gateway.app.koa.callback(), log, config.databasePoolMax);
  server.timeout = timeout;
  server.maxHeadersCount = 0; // Node would drop headers after the 2000th, such as a second Host; 16 kB bound all
  // A client may close its side after the request and wait for the answer; Node has this switch without documenting it.
  Object.assign(server, { httpAllowHalfOpen: true });
  watchSockets(server, log, gateway.app.methods);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, resolve);
  });
  // Emitted for a connection that could not be accepted, as when the process has no file descriptor left.
  server.on(
    'error',
    safely(log, (error) => log.error({ err: error }, 'a connection was not taken')),
  );
  const { port } = server.address() as AddressInfo; // an object for every TCP server that listens
  return {
    url: urlOf(config.host, port),
    port,
    /** Drains: no new connections, the requests in flight end within SHUTDOWN_GRACE_MS, then the gateway closes. */
    async close(): Promise<void> {
      gateway.drain();
      await closeServer(server, config.shutdownGraceMs);
      await gateway.close();
    },
  };
}

/** The address of a server, without a trailing slash. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Closes a server. Unlike `server.close()`, it leaves idle connections open for LINGER_MS: a request that is already on
 * its way is answered, with `Connection: close`, instead of a reset.
 */
async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  const idle = setTimeout(() => server.closeIdleConnections(), Math.min(LINGER_MS, graceMs / 2));
  const all = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(all);
}

/**
 * Answers requests that never reach the app, such as those that Node's parser refuses: with an Error body and a request
 * id, which the log has too. Gives every socket an error listener, because Node removes its own from the socket of a
 * CONNECT. `methods` are the methods of all routes.
 */
function watchSockets(server: Server, log: Logger, methods: readonly string[]): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  /** The answer to the last request of a socket; undefined when all of it has been written. */
  const owedOn = (socket: Duplex) => {
    const answer = answers.get(socket);
    return answer?.writableFinished ? undefined : answer;
  };
  const note = (requestId: string, { status, message }: ApiError) =>
    log.info({ requestId, status, reason: message }, 'request refused unread');
  const refuse = (socket: Duplex, error: ApiError, isHead = false) => {
    if (!socket.writable) return void socket.destroy();
    const requestId = randomUUID();
    socket.end(rawRefusal(error, requestId, isHead), () => socket.destroy());
    note(requestId, error);
  };
  const onClientError = (error: Error & { code?: string; rawPacket?: Buffer }, socket: Duplex) => {
    if (error.code === 'HPE_PAUSED') return; // `serveInOrder` has paused the parser
    const answer = owedOn(socket);
    // A pipelined request without a body has arrived whole: it waits only for the answers before it.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && answer !== undefined && hasNoBody(answer.req)) return;
    const refusal = parserRefusal(error);
    // `rawPacket` begins with the method, unless the header came in several packets.
    const isHead = error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
    if (answer === undefined) refuse(socket, refusal, isHead);
    // RFC 9112 §9.3.2: the answers to earlier pipelined requests are sent first.
    else if (answer.req.complete)
      answer.once(
        'close',
        safely(log, () => refuse(socket, refusal, isHead)),
      );
    // A refusal must not be mixed into an answer that is being sent.
    else if (answer.headersSent || !socket.writable) socket.destroy();
    else {
      const appsId = answer.getHeader('X-Request-Id'); // set when the request has reached the app, which logs it
      const requestId = String(appsId ?? requestIdOf(answer.req.headers));
      refuseAndEnd(answer, refusal, requestId);
      if (appsId === undefined) note(requestId, refusal);
    }
  };
  const onConnect = (_request: IncomingMessage, socket: Duplex) => {
    const headers = { Allow: methods.toSorted().join(', ') };
    const refuseIt = safely(log, () =>
      refuse(socket, new ApiError('method_not_allowed', 'This is no proxy.', { headers })),
    );
    const answer = owedOn(socket);
    if (answer === undefined) refuseIt();
    else answer.once('close', refuseIt);
  };
  server.on('connection', (socket) => socket.on('error', () => {})); // a client that resets its connection is no fault
  server.prependListener('request', (request, answer) => answers.set(request.socket, answer));
  server.on('clientError', safely(log, onClientError));
  server.on('connect', safely(log, onConnect));
  // Emitted for an expectation other than 100-continue. RFC 9110 §10.1.1 lets a server ignore it.
  server.on('checkExpectation', (request, answer) => server.emit('request', request, answer));
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
