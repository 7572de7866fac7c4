import { existsSync, readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';

/**
 * Bytes of the heap that a connection is reckoned with. The headers of two requests, with as many lines as are allowed, take 50 kB each, and
 * what is unparsed behind them 128 kB, see `serveInOrder`: together little more than half of it.
 */
export const CONNECTION_BYTES = 384 * 2 ** 10;
const CONNECTIONS_LEAST = 16;
const TOLD_EVERY_MS = 60_000;

/**
 * How many connections this process can have open, by its open-file limit and its heap; `otherFiles` is how many files it opens
 * besides. 16 at least.
 */
export function maxConnections(otherFiles: number): number {
  const files = openFilesLimit() - otherFiles;
  const held = getHeapStatistics().heap_size_limit / CONNECTION_BYTES;
  return Math.max(CONNECTIONS_LEAST, Math.floor(Math.min(files, held)));
}

/** RLIMIT_NOFILE; unlimited on systems without /proc, where Node raises the limit itself. */
function openFilesLimit(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'latin1') : '';
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return Number(soft ?? Number.POSITIVE_INFINITY); // `unlimited`
}

/**
 * Limits a server to `most` connections. A further connection replaces the one that has been idle for the longest time; if none is
 * idle, it is closed itself. `idle` has the idle connections, longest idle first. `tell` gets the number of closed ones since it was
 * last called, once a minute. Gives the open connections.
 */
export function limitConnections(
  server: Server,
  idle: Pick<Map<Socket, unknown>, 'keys' | 'delete'>,
  most: number,
  tell: (closed: number) => void,
): Set<Socket> {
  const open = new Set<Socket>();
  let closed = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= most) return;
    const [longest = socket] = idle.keys();
    idle.delete(longest);
    longest.destroy();
    closed++;
    if (performance.now() - toldAt < TOLD_EVERY_MS) return;
    toldAt = performance.now();
    tell(closed);
    closed = 0;
  });
  return open;
}
