import { createServer, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Config } from '../config.ts';
import { CONNECTIONS_CHECK_MS, HEADERS_MS, KEEP_ALIVE_MS, LINGER_MS, RECEIVE_MS, STALLED_MS } from '../deadlines.ts';
import type { Gateway } from '../gateway.ts';
import { guardRequests } from '../http/request-guard.ts';
import { type Logger, safely } from '../log.ts';
import { watchSockets } from './sockets.ts';

/** What Node is to do otherwise than by default; see `guardRequests` for the timeout. */
const OPTIONS = {
  headersTimeout: HEADERS_MS,
  requestTimeout: RECEIVE_MS,
  connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  requireHostHeader: false, // Node's own refusal of a missing Host has no body
  joinDuplicateHeaders: true, // a repeated Host, Authorization or Content-Type becomes one value, which is invalid
};

/**
 * Serves the gateway over HTTP; `options` are in place of the usual ones. Rejects with the system's error when the port
 * cannot be had.
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
  server.maxHeadersCount = 0; // of Node's 2000 no second Host must hide behind others; the header's 16 kB bound them
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
 * Unlike server.close(), it leaves idle connections open at first: a request that is already on its way is answered, with
 * `Connection: close`, and no client sees a reset.
 */
async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  const idle = setTimeout(() => server.closeIdleConnections(), Math.min(LINGER_MS, graceMs / 2));
  const all = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(all);
}
