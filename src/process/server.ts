import { createServer, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Config } from '../config.ts';
import { CONNECTIONS_CHECK_MS, HEADERS_MS, KEEP_ALIVE_MS, LINGER_MS, RECEIVE_MS, STALLED_MS } from '../deadlines.ts';
import type { Gateway } from '../gateway.ts';
import { guardRequests } from '../http/request-guard.ts';
import { type Logger, safely } from '../log.ts';
import { watchSockets } from './sockets.ts';

/** How long a client may take, in ms. */
const TIMEOUTS = {
  headersTimeout: HEADERS_MS,
  requestTimeout: RECEIVE_MS,
  connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  timeout: STALLED_MS, // see `guardRequests`
};

/** What Node is to leave to us. */
const OPTIONS = {
  // Its own refusal of a missing Host has no body.
  requireHostHeader: false,
  // Several lines of Host, Authorization or Content-Type come as one value, which is none, rather than as the first of them.
  joinDuplicateHeaders: true,
};

type ListenConfig = Pick<Config, 'host' | 'port' | 'shutdownGraceMs' | 'databasePoolMax'>;

/** Serves the gateway over HTTP. Rejects with the system's error when the port cannot be had. */
export async function listen(
  gateway: Gateway,
  config: ListenConfig,
  log: Logger,
  timeouts: Partial<typeof TIMEOUTS> = {},
) {
  const { timeout, ...limits } = { ...TIMEOUTS, ...timeouts };
  const server = createServer({ ...limits, ...OPTIONS });
  guardRequests(server, gateway.app.koa.callback(), log, config.databasePoolMax);
  server.timeout = timeout;
  server.maxHeadersCount = 0; // all that fit the header's 16 kB: a second Host must not hide behind the others
  // A client may close its side after the request and wait for the answer; Node has this switch without documenting it.
  Object.assign(server, { httpAllowHalfOpen: true });
  watchSockets(server, log, gateway.app.methods);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, resolve);
  });
  // Of connections that could not be taken, as when the process has no file descriptor left.
  server.on(
    'error',
    safely(log, (error) => log.error({ err: error }, 'a connection was not taken')),
  );
  const { port } = server.address() as AddressInfo; // an object for every TCP server that listens
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    /** Without a trailing slash. */
    url: `http://${host}:${port}`,
    port,
    /** Drains: no new connections, the requests in flight end within SHUTDOWN_GRACE_MS, then the gateway closes. */
    async close(): Promise<void> {
      gateway.drain();
      await closeServer(server, config.shutdownGraceMs);
      await gateway.close();
    },
  };
}

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
