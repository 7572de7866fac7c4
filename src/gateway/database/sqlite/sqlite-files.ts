import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../../config.ts';
import { BUSY_MS } from '../../deadlines.ts';
import { MIGRATIONS, whyEarlier } from '../migration-files.ts';

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;
const SQLITE_READONLY_DBMOVED = 1032;

/** A database file, its WAL files, and the identities of all of them when they were opened. */
export interface SqliteFiles {
  readonly filename: string;
  /** The write-ahead log and its index (-wal, -shm), beside the target of a symbolic link, https://www.sqlite.org/walformat.html */
  readonly walFiles: readonly string[];
  /** Device and inode of each, by path. */
  readonly opened: Record<string, string>;
}

/**
 * Creates the folder and the file of an embedded store, readable by their owner only; existing ones stay unchanged. SQLite gives
 * the WAL files the mode of the database file. Throws ConfigError when they cannot be created, or when the file is not a store of
 * this gateway.
 */
export function prepareFiles(filename: string): SqliteFiles {
  const exists = existsSync(filename);
  if (exists) checkAccess(filename);
  const why = exists ? whyForeign(filename) : makeFiles(filename);
  if (why !== undefined) {
    const advice = 'name another file, or move this one away';
    throw new ConfigError(`DATABASE_URL: ${filename} is not used and stays as it is: ${why}; ${advice}`);
  }
  const real = realpathSync(filename);
  const files = { filename, walFiles: [`${real}-wal`, `${real}-shm`], opened: {} };
  checkFiles(files, [filename]);
  return files;
}

/**
 * Throws SQLITE_READONLY_DBMOVED when one of the files was removed or replaced, because writes to an unlinked file are lost when
 * it is closed. The first check of a file stores its identity (device and inode).
 */
export function checkFiles({ filename, walFiles, opened }: SqliteFiles, paths = [filename, ...walFiles]): void {
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    const identity = found && `${found.dev}:${found.ino}`;
    if (identity !== undefined) opened[path] ??= identity;
    if (identity === opened[path]) continue;
    const error = new Error(`${path} was removed or replaced: put it back, or restart the gateway`);
    throw Object.assign(error, { errcode: SQLITE_READONLY_DBMOVED });
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

function makeFiles(filename: string): undefined {
  try {
    mkdirSync(dirname(filename), { recursive: true, mode: OWNER_ONLY_FOLDER });
    closeSync(openSync(filename, 'a', OWNER_ONLY_FILE));
  } catch (error) {
    const { message } = error as Error; // fs throws Errors
    const why = /^E(?:ACCES|PERM|ROFS)/.test(message) ? `it ${whyDenied(error as Error)}` : message;
    throw new ConfigError(`DATABASE_URL: the folder or file ${filename} cannot be made: ${why}`);
  }
}

/** The reason why a file is not a store of this gateway, or undefined. Reads only. An empty file or database may become a store. */
function whyForeign(filename: string): string | undefined {
  const found = statSync(filename);
  if (!found.isFile()) return found.isDirectory() ? 'it is a folder' : 'it is no file';
  if (found.size === 0) return undefined;
  // With immutable=1 SQLite creates no files and ignores the WAL, https://www.sqlite.org/uri.html#uriimmutable. An existing WAL
  // must be read, because it may hold all data of a new store.
  const search = existsSync(`${realpathSync(filename)}-wal`) ? 'mode=ro' : 'immutable=1';
  try {
    using database = new DatabaseSync(Object.assign(pathToFileURL(filename), { search }), {
      readOnly: true,
      timeout: BUSY_MS,
    });
    const namesIn = (table: string) =>
      Array.from(database.prepare(`SELECT name FROM ${table}`).iterate(), ({ name }) => name);
    const objects = namesIn('sqlite_master') as string[]; // tables and their indexes all have names
    const done = objects.includes('knex_migrations') ? namesIn('knex_migrations') : [];
    const isOurs = MIGRATIONS.some((name) => done.includes(name));
    const isEmpty = done.length === 0 && objects.every((name) => /^(?:sqlite|knex)_/.test(name));
    return isOurs || isEmpty ? undefined : (whyEarlier(done) ?? 'it is the database of another program');
  } catch (error) {
    return (error as Error).message; // node:sqlite throws Errors
  }
}
