import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Deadline, remainingMs } from '../../lib/deadline/deadline.ts';
import { createSqliteConfig, NodeSqliteClient, peekSqlite } from '../../lib/node-sqlite/node-sqlite.ts';
import { ConfigError } from '../config.ts';
import { ACQUIRE_MS, BUSY_MS, PEEK_MS } from '../deadlines.ts';
import { DatabaseFault } from '../errors.ts';
import type { Into, RowValues } from '../kinds.ts';
import { means } from './faults.ts';
import { whyForeign } from './migration-files.ts';

/** Knex on node:sqlite, with what a server would tell. */
class GatewaySqliteClient extends NodeSqliteClient {
  readonly takesWrites = () => true;
  readonly packetBytes = () => Number.POSITIVE_INFINITY;
  readonly roundTripMs = () => 0;
  readonly mayChange = () => false;

  /** Refused when its wait for a lock might end after `end`: a create that was answered 503 for a lock does not come later. */
  override async insertPrepared(into: Into, rows: readonly RowValues[], end?: Deadline): Promise<string[]> {
    if (end !== undefined && remainingMs(end) < BUSY_MS)
      throw Object.assign(new Error('too little time is left for a write'), { code: 'POOL_TIMEOUT' });
    return super.insertPrepared(into, rows);
  }
}

/**
 * Knex settings for `sqlite:PATH` or `sqlite::memory:`. Throws ConfigError when the file cannot be created, or is not a store of
 * this gateway; DatabaseFault `unavailable` when another process lets nobody read it.
 */
export function createStoreConfig(databaseUrl: string) {
  const path = databaseUrl.slice('sqlite:'.length);
  const filename = path === ':memory:' ? path : resolve(path);
  if (path !== ':memory:' && existsSync(filename)) {
    checkAccess(filename);
    const why = whyRefused(filename);
    const advice = 'name another file, or move this one away';
    if (why !== undefined)
      throw new ConfigError(`DATABASE_URL: ${filename} is not used and stays as it is: ${why}; ${advice}`);
  }
  try {
    const config = createSqliteConfig({ filename, busyMs: BUSY_MS, acquireMs: ACQUIRE_MS });
    return { ...config, client: GatewaySqliteClient };
  } catch (error) {
    const { message } = error as Error; // fs throws Errors
    const why = /^E(?:ACCES|PERM|ROFS)/.test(message) ? `it ${whyDenied(error as Error)}` : message;
    throw new ConfigError(`DATABASE_URL: the folder or file ${filename} cannot be made: ${why}`);
  }
}

/** SQLite would only say that it cannot open the file. It makes the WAL files, which a crash may have left, in the folder. */
function checkAccess(filename: string): void {
  const real = realpathSync(filename);
  for (const path of [dirname(real), real, `${real}-wal`, `${real}-shm`].filter((file) => existsSync(file))) {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw new ConfigError(`DATABASE_URL: ${path} ${whyDenied(error as Error)}`); // fs throws Errors
    }
  }
}

/** What to do about an error of fs when it is a matter of rights. */
function whyDenied({ message }: Error): string {
  const user = `the user ${process.getuid?.() ?? 'of this process'}`;
  if (message.startsWith('EROFS'))
    return `is on a file system that is mounted read-only: mount it for writing (${message})`;
  return `may not be read and written by ${user}: give it the right (${message})`;
}

/** The reason why a file is not a store of this gateway, or undefined. Reads only. An empty file or database may become a store. */
function whyRefused(filename: string): string | undefined {
  const found = statSync(filename);
  if (!found.isFile()) return found.isDirectory() ? 'it is a folder' : 'it is no file';
  try {
    return peekSqlite(filename, PEEK_MS, (database) => {
      const namesIn = (table: string) =>
        Array.from(database.prepare(`SELECT name FROM ${table}`).iterate(), ({ name }) => name);
      const objects = namesIn('sqlite_master') as string[]; // tables and their indexes all have names
      const done = objects.includes('knex_migrations') ? namesIn('knex_migrations') : [];
      const isEmpty = objects.every((name) => /^(?:sqlite|knex)_/.test(name));
      return whyForeign(done, isEmpty);
    });
  } catch (error) {
    // Another process that lets nobody read says nothing of whose file it is: a start waits for it, as for any lock.
    if (means(error, 'lockWait')) throw new DatabaseFault('unavailable', error);
    return (error as Error).message; // node:sqlite throws Errors
  }
}
