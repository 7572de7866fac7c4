import { existsSync, readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from '../log.ts';

/** Open files besides connections: the log, assets, libraries, Node's own. */
const OTHER_FILES = 64;
/** Open files of one database connection: SQLite has a database, a log and the log's index. */
const DATABASE_FILES = 4;
/** Bytes that the queued requests of one connection may hold, see `serveInOrder`. */
const CONNECTION_BYTES = 128 * 2 ** 10;
const CONNECTIONS_LEAST = 16;
const WARNING_MS = 60_000;

/** The connection limit of this process, derived from its open-file limit and its heap. */
export function maxConnections(databaseConnections: number): number {
  const files = openFilesLimit() - OTHER_FILES - DATABASE_FILES * databaseConnections;
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
 * idle, it is closed itself. Logs the number of closed ones once a minute. `idle` has the idle connections, longest idle first.
 */
export function limitConnections(server: Server, idle: Set<Socket>, most: number, log: Logger): void {
  let open = 0;
  let closed = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
    if (open <= most) return;
    const [longest = socket] = idle;
    idle.delete(longest);
    longest.destroy();
    closed++;
    if (performance.now() - warnedAt < WARNING_MS) return;
    warnedAt = performance.now();
    log.warn({ closed, most }, 'too many connections: those that were idle for the longest time are closed');
    closed = 0;
  });
}
