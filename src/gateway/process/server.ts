import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { IS_WORKER } from '../cluster-worker.ts';
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
import type { Gateway } from '../gateway.ts';
import { createStartingApp } from '../http/app.ts';
import { limitConnections, maxConnections } from '../load/connection-limit.ts';
import { serveInOrder } from '../load/pipeline.ts';
import { type Logger, safely } from '../log.ts';
import { answerOutsideApp } from './parser-refusals.ts';

/** Options that differ from Node's defaults. */
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
  let serve = app.koa.callback();
  let held: Promise<void> | undefined;
  const idle = serveInOrder(server, (request, answer) => {
    if (held === undefined)
      void serve(request, answer); // never rejects
    else void held.then(() => serve(request, answer));
  });
  limitConnections(server, idle, maxConnections(config.databasePoolMax), log);
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
      const endsAt = performance.now() + graceMs;
      gateway?.drain();
      await closeServer([server, admin], graceMs, (until) => {
        held = until;
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
export const drainMs = (graceMs: number) => Math.min(DRAIN_MS, graceMs / 2);

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
    await delay(drainMs(graceMs) + (IS_WORKER ? ACCEPT_MS : 0)); // the primary closes the port of its workers first
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
