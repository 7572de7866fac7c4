// biome-ignore-all lint/performance/noBarrelFile: a library has one entry; README.md says what for
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, createServer as createNetServer, Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { limitConnections } from './connection-limit.ts';
import { HEADER_LINES_MAX } from './node-parser.ts';
import { answerRefused, type Refuse } from './refused-requests.ts';
import { type IdleConnections, serveInOrder } from './request-order.ts';

export { CONNECTION_BYTES, maxConnections } from './connection-limit.ts';
export type { Reason, Refusal, Refuse } from './refused-requests.ts';

/** What a server is told. */
export interface OrderedServerParts {
  /** Serves a request, see `serveInOrder`. */
  readonly serve: RequestListener;
  /** Gives the answer to a request that `serve` does not get, or not whole. */
  readonly refuse: Refuse;
  /** More connections than this are not kept open, see `maxConnections`. */
  readonly connectionsMax: number;
  /** As pino's. */
  readonly log: Readonly<Record<'warn' | 'error', (fields: object, text: string) => void>>;
}

/** In place of defaults of Node's server. */
const OPTIONS = { requireHostHeader: false }; // Node's own refusal of a missing Host has no body: it is for `serve` to refuse
const SWITCHES = {
  maxHeadersCount: HEADER_LINES_MAX,
  // A client may close its side after the request and wait for the answer; Node has this switch without documenting it.
  httpAllowHalfOpen: true,
  // That of http closes idle connections at once, cuts answers that a client still reads, and looks for late requests no more. In a worker
  // of a cluster Node calls it, too: https://github.com/nodejs/node/blob/v24.x/lib/internal/cluster/child.js
  close: NetServer.prototype.close,
};

/**
 * Creates a server that serves the requests of each connection one after the other. `options` are those of Node's server; its
 * `timeout` is how long a client may take nothing of its answer, in ms.
 */
export function createOrderedServer(
  { timeout, ...options }: ServerOptions & { readonly timeout: number },
  { serve, refuse, connectionsMax, log }: OrderedServerParts,
) {
  const server = Object.assign(createServer({ ...OPTIONS, ...options }), { timeout, ...SWITCHES });
  let ports: readonly NetServer[] = [];
  const tell = (level: 'warn' | 'error', fields: object, text: string) => {
    try {
      log[level](fields, text);
    } catch {
      // an error of the log must not end the process
    }
  };
  let serving = serve;
  const idle = serveInOrder(server, () => serving);
  const open = limitConnections(server, idle, connectionsMax, (closed) => {
    const fields = { closed, most: connectionsMax };
    tell('warn', fields, 'too many connections: those that were idle for the longest time are closed');
  });
  answerRefused(server, refuse, (error) => tell('error', { err: error }, 'a listener failed'));
  return {
    /**
     * Listens at these ports, and gives the address of the first one. Rejects with the system's error when one cannot be
     * used; then none is open.
     */
    async listen(numbers: readonly [number, ...number[]], host?: string): Promise<AddressInfo> {
      ports = await openPorts(server, numbers, host);
      // Emitted for a connection that could not be accepted, as when the process has no file descriptor left.
      const notTaken = (error: Error) => tell('error', { err: error }, 'a connection was not taken');
      for (const port of ports) port.on('error', notTaken);
      return server.address() as AddressInfo; // an object for every TCP server that listens
    },
    /** Serves all further requests by another function. */
    serve(listener: RequestListener): void {
      serving = listener;
    },
    /** Takes requests for `drainMs` more, then closes the ports. Resolves when all connections have ended. */
    async close(times: ClosingTimes): Promise<void> {
      // Node's own list lacks a connection with a CONNECT, whose parser it has freed.
      const cut = () => {
        for (const socket of open) socket.destroy();
      };
      setTimeout(cut, times.graceMs).unref();
      await closeServer({ server, ports, idle }, times, (until) => {
        const before = serving;
        serving = (request, response) => void until.then(() => before(request, response));
      });
      // Node tells that a port has closed before it ends the requests that were cut.
      await Promise.all(Array.from(open, (socket) => new Promise((resolve) => socket.once('close', resolve))));
    },
  };
}

/** Opens the ports, that of the server itself last. The connections of the others are handed over to it. */
async function openPorts(
  server: Server,
  [first, ...further]: readonly [number, ...number[]],
  host: string | undefined,
): Promise<readonly NetServer[]> {
  const ports: NetServer[] = [];
  const open = async (port: NetServer, number: number) => {
    await once(port.listen(number, host), 'listening');
    ports.push(port);
  };
  const onlyHandsOver = () =>
    createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  try {
    for (const number of further) await open(onlyHandsOver(), number);
    await open(server, first);
    return ports;
  } catch (error) {
    for (const port of ports) port.close();
    throw error;
  }
}

/** How a server closes, in ms. */
interface ClosingTimes {
  /** All connections end after this time. When it is 0, the ports are free at once. */
  readonly graceMs: number;
  /** How long the server goes on as before, but for what `serve` answers. */
  readonly drainMs: number;
  /** The longest hold of requests while it accepts the last connections. */
  readonly acceptMs: number;
  /** How long after that, and after their last answer, idle connections stay: a request may be on its way. */
  readonly idleMs: number;
}

/**
 * Closes `ports`, and the connections of `server`, which serves them all. No request meets a reset that is already on its way on
 * an idle connection, if clients learn within `drainMs` to send nothing any more. `hold` gets a promise that requests wait for.
 */
async function closeServer(
  { server, ports, idle }: { server: Server; ports: readonly NetServer[]; idle: IdleConnections },
  { graceMs, drainMs, acceptMs, idleMs }: ClosingTimes,
  hold: (until: Promise<void>) => void,
): Promise<void> {
  if (graceMs > 0) {
    await delay(drainMs);
    const accepted = acceptPending(server, acceptMs);
    hold(accepted);
    await accepted;
  }
  const closingIdle = setInterval(() => closeIdle(idle, idleMs), idleMs).unref();
  await Promise.all(ports.map((port) => new Promise((resolve) => port.close(resolve))));
  clearInterval(closingIdle);
}

/**
 * Closes the connections that have been idle for `idleMs`, but for those on which a request has begun to arrive. Node's own function
 * cuts answers that a client still reads, and misses connections on which nothing ever came.
 */
function closeIdle(idle: IdleConnections, idleMs: number): void {
  const before = performance.now() - idleMs;
  for (const [socket, { since, bytesRead }] of idle)
    if (since <= before && socket.bytesRead === bytesRead) socket.destroy();
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
