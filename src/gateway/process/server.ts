import { randomUUID } from 'node:crypto';
import { createOrderedServer, maxConnections, type Reason, type Refuse } from '../../lib/ordered-http/ordered-http.ts';
import type { Config } from '../config.ts';
import * as deadlines from '../deadlines.ts';
import { ApiError } from '../errors.ts';
import type { Gateway } from '../gateway.ts';
import { logUnread, requestIdOf, STANDARD_HEADERS, writeRestError } from '../http/answer.ts';
import { createStartingApp } from '../http/app.ts';
import type { Logger } from '../log.ts';

const OPTIONS = {
  headersTimeout: deadlines.HEADERS_MS,
  requestTimeout: deadlines.RECEIVE_MS,
  connectionsCheckingInterval: deadlines.CONNECTIONS_CHECK_MS,
  keepAliveTimeout: deadlines.KEEP_ALIVE_MS,
  timeout: deadlines.STALLED_MS,
  joinDuplicateHeaders: true, // a repeated Host, Authorization or Content-Type becomes one value, which is invalid
};
/** Open files besides connections: the log, assets, libraries, Node's own. */
const OTHER_FILES = 64;
/** Open files of one database connection: SQLite has a database, a log and the log's index. */
const DATABASE_FILES = 4;

/**
 * Serves a gateway over HTTP. Without one it serves the starting app, until `serve` is called. `options` override single defaults.
 * Rejects with the system's error when the port cannot be used.
 */
export async function listen(
  first: Gateway | undefined,
  config: Config,
  log: Logger,
  options: Partial<typeof OPTIONS> = {},
) {
  let gateway = first;
  let app: Pick<Gateway['app'], 'koa' | 'methods'> = gateway?.app ?? createStartingApp(config, log);
  const server = createOrderedServer(
    { ...OPTIONS, ...options },
    {
      serve: app.koa.callback(), // never rejects
      refuse: createParserRefusals(log, () => app.methods),
      connectionsMax: maxConnections(OTHER_FILES + DATABASE_FILES * config.databasePoolMax),
      log,
    },
  );
  // Without a host Node takes `::`, which serves IPv4, too, and 0.0.0.0 where there is no IPv6: https://nodejs.org/api/net.html#serverlistenport-host-backlog-callback
  const host = config.host === '::' ? undefined : config.host;
  const { adminPort } = config;
  const { port } = await server.listen(adminPort === undefined ? [config.port] : [config.port, adminPort], host);
  return {
    ...addressOf({ host: config.host, port }),
    probesUrl: addressOf({ host: config.host, port: adminPort ?? port }).url,
    /** Serves a gateway from now on, on the same port and the same connections. */
    serve(started: Gateway): void {
      gateway = started;
      app = started.app;
      server.serve(app.koa.callback());
    },
    /**
     * Drains: the requests in flight end within `graceMs`, then the gateway closes. Before it closes the port it serves for DRAIN_MS
     * more, with `Connection: close`: a load balancer learns by `/readyz` to send nothing any more.
     */
    async close(graceMs = config.shutdownGraceMs): Promise<void> {
      const endsAt = performance.now() + graceMs;
      gateway?.drain();
      await server.close({
        graceMs,
        drainMs: drainMs(graceMs),
        acceptMs: deadlines.ACCEPT_MS,
        idleMs: Math.min(deadlines.DRAIN_MS, graceMs / 4),
      });
      await gateway?.close(Math.max(endsAt - performance.now(), 0));
    },
  };
}

/** The address of a server, without a trailing slash, and its port. */
export function addressOf({ host, port }: Pick<Config, 'host' | 'port'>) {
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port };
}

/** How long a server that stops takes requests, in ms. */
export const drainMs = (graceMs: number) => Math.min(deadlines.DRAIN_MS, graceMs / 2);

const MESSAGES: Readonly<Record<Exclude<Reason, 'connect'>, string>> = {
  'not HTTP': 'The request is not valid HTTP.',
  'long header': 'The header of the request is too large.',
  late: 'The request did not arrive in time.',
  'small chunks': 'The body comes in too many small chunks.',
};

/**
 * Writes the answers to requests that never reach the app, or not whole: with an Error body and a request id, which the log has too.
 * `methods` gives the methods of all routes.
 */
function createParserRefusals(log: Logger, methods: () => readonly string[]): Refuse {
  const errorFor = (reason: Reason) => {
    if (reason !== 'connect') return new ApiError('bad_request', MESSAGES[reason]);
    const headers = { Allow: methods().toSorted().join(', ') };
    return new ApiError('method_not_allowed', 'This is no proxy.', { headers });
  };
  return (reason, socket, response) => {
    const error = errorFor(reason);
    const appsId = response?.getHeader('X-Request-Id'); // set when the request has reached the app, which logs it
    const requestId = String(appsId ?? (response ? requestIdOf(response.req.headers) : randomUUID()));
    if (appsId === undefined) logUnread(log, error, requestId, socket);
    const { type, body } = writeRestError(error, {});
    const headers = { 'X-Request-Id': requestId, ...STANDARD_HEADERS, ...error.headers, 'Content-Type': type };
    return { status: error.status, headers, body };
  };
}
