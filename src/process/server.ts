import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import type { Gateway } from '../gateway.ts';
import { writeError } from '../http/error-body.ts';
import type { Logger } from '../log.ts';

/** How long a client may take, in ms. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  /** For header and body together. */
  requestTimeout: 30_000,
  /** How often Node looks for connections beyond their time; its default is half a minute. */
  connectionsCheckingInterval: 2000,
  // Longer than a load balancer's (60 s is common): the side that reuses a connection closes it first.
  keepAliveTimeout: 65_000,
};

/** A gateway that listens. */
export interface Listening {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Drains: no new connections, the requests under way end within SHUTDOWN_GRACE_MS, then the gateway closes. */
  close(): Promise<void>;
}

type ListenConfig = Pick<Config, 'host' | 'port' | 'shutdownGraceMs'>;

/** Serves the gateway over HTTP. Rejects with the system's error when the port cannot be had. */
export async function listen(
  gateway: Gateway,
  config: ListenConfig,
  log: Logger,
  timeouts: Partial<typeof TIMEOUTS> = {},
): Promise<Listening> {
  const server = createServer(
    // Node's own refusal of a missing Host has no body; the app refuses it instead.
    { ...TIMEOUTS, ...timeouts, requireHostHeader: false },
    gateway.app.callback(),
  );
  // A client may close its side after the request and wait for the answer; Node has this switch without documenting it.
  Object.assign(server, { httpAllowHalfOpen: true });
  refuseWithErrorBodies(server, log);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, resolve);
  });
  const { port } = server.address() as AddressInfo; // an object for every TCP server that listens
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    url: `http://${host}:${port}`,
    port,
    async close() {
      gateway.drain();
      await closeServer(server, config.shutdownGraceMs);
      await gateway.close();
    },
  };
}

/** How long a kept connection may still bring a request before it is closed, in ms. */
const LINGER_MS = 1000;

/**
 * Unlike server.close(), it does not cut kept connections at once: a request that is on its way on one of them is
 * answered, with `Connection: close`, and nobody sees a reset.
 */
async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  const idle = setTimeout(() => server.closeIdleConnections(), Math.min(LINGER_MS, graceMs / 2));
  const all = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(all);
}

/** What never reaches the app gets an Error body, an id and a line in the log, too. */
function refuseWithErrorBodies(server: Server, log: Logger): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const refuse = (socket: Duplex, error: ApiError, isHead = false) => {
    if (!socket.writable) return void socket.destroy();
    const requestId = randomUUID();
    const body = writeError(error);
    const head = Object.entries({ 'X-Request-Id': requestId, ...refusalHeaders(error, body) });
    const lines = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...head.map((field) => field.join(': '))];
    socket.end(`${lines.join('\r\n')}\r\n\r\n${isHead ? '' : body}`, () => socket.destroy());
    log.info({ requestId, status: error.status, reason: error.message }, 'request refused unread');
  };
  server.prependListener('request', (request, response) => answers.set(request.socket, response));
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    const answer = answers.get(socket);
    // RFC 9110 §9.3.2: no body. The method is to be seen unless the header came in pieces.
    const isHead = error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
    const answerFault = () => refuse(socket, parserRefusal(error.code), isHead);
    if (answer === undefined || answer.writableFinished) answerFault();
    // Pipelined, RFC 9112 §9.3.2: the requests before it get their own answers first.
    else if (answer.req.complete) answer.once('close', answerFault);
    // Nothing may be mixed into an answer that is being sent.
    else if (answer.headersSent || !socket.writable) socket.destroy();
    // Its header was good: the app, which waits for the body, has given it an id, and writes its line in the log.
    else endWith(answer, parserRefusal(error.code));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    refuse(socket, new ApiError('method_not_allowed', 'This is no proxy.', { headers: { Allow: 'GET, HEAD, POST' } })),
  );
  // An expectation other than 100-continue: RFC 9110 §10.1.1 lets a server ignore it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

interface ParserError extends NodeJS.ErrnoException {
  /** What the parser was reading. */
  readonly rawPacket?: Buffer;
}

function parserRefusal(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('bad_request', 'The header of the request is too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('bad_request', 'The request did not arrive in time.');
  return new ApiError('bad_request', 'The request is not valid HTTP.');
}

function refusalHeaders(error: ApiError, body: string): OutgoingHttpHeaders {
  return {
    'Cache-Control': 'no-store',
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
}

function endWith(answer: ServerResponse, error: ApiError): void {
  const body = writeError(error);
  answer.writeHead(error.status, refusalHeaders(error, body));
  answer.end(body, () => answer.req.destroy());
}
