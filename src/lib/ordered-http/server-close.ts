import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** How a server closes, in ms. */
export interface ClosingTimes {
  /** All connections end after this time. When it is 0, the ports are free at once. */
  readonly graceMs: number;
  /** How long the server goes on as before, but for what `serve` answers. */
  readonly drainMs: number;
  /** The longest hold of requests while it accepts the last connections. */
  readonly acceptMs: number;
  /** How long after that idle connections stay: the first request of one that was just accepted may be on its way. */
  readonly idleMs: number;
}

/**
 * Closes `ports`, and the connections of `server`, which serves them all. No request meets a reset that is already on its way on
 * an idle connection, if clients learn within `drainMs` to send nothing any more. `hold` gets a promise that requests wait for.
 */
export async function closeServer(
  server: Server,
  ports: readonly NetServer[],
  { graceMs, drainMs, acceptMs, idleMs }: ClosingTimes,
  hold: (until: Promise<void>) => void,
): Promise<void> {
  setTimeout(() => server.closeAllConnections(), graceMs).unref();
  if (graceMs > 0) {
    await delay(drainMs);
    const accepted = acceptPending(server, acceptMs);
    hold(accepted);
    await accepted;
  }
  setTimeout(() => server.closeIdleConnections(), idleMs).unref();
  // That of net: the one of http would close idle connections at once.
  await Promise.all(ports.map((port) => new Promise((resolve) => NetServer.prototype.close.call(port, resolve))));
}

/**
 * Waits, for `acceptMs` at most, until the server has accepted what the kernel holds for it: closing would reset these
 * connections. A turn of the event loop accepts one: https://github.com/libuv/libuv/blob/v1.x/src/unix/stream.c
 */
async function acceptPending(server: Server, acceptMs: number): Promise<void> {
  const startedAt = performance.now();
  let hasAccepted = true;
  const note = () => {
    hasAccepted = true;
  };
  server.on('connection', note);
  while (hasAccepted && performance.now() - startedAt < acceptMs) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}
