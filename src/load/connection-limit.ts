import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from '../log.ts';

/** What is opened beside connections of clients and of the database: the log, assets, libraries, what Node itself needs. */
const OTHER_FILES = 64;
/** What one connection of the database may have open: SQLite's have a database, a log and its index. */
const DATABASE_FILES = 4;
/** What the requests of a connection may hold while they wait, see `serveInOrder`. */
const CONNECTION_BYTES = 128 * 2 ** 10;
const CONNECTIONS_LEAST = 16;
const WARNING_MS = 60_000;

/** How many clients may be connected to this process: its limit of open files and its heap have room for them. */
export function connectionsMost(databaseConnections: number): number {
  const files = openFilesLimit() - OTHER_FILES - DATABASE_FILES * databaseConnections;
  const held = getHeapStatistics().heap_size_limit / CONNECTION_BYTES;
  return Math.max(CONNECTIONS_LEAST, Math.floor(Math.min(files, held)));
}

/** RLIMIT_NOFILE, which systems other than Linux do not tell: Node asks them for as many as they give. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return Number(soft ?? Number.POSITIVE_INFINITY); // `unlimited`
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Of more than `most` connections the one is closed that has had no request for the longest time, so that a new client is
 * served; when all have one, the new one is closed. One warning a minute tells how many. `idle` has those without a request,
 * in that order.
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
