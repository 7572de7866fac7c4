import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

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
 * Creates a missing file and its folder, readable by their owner only; existing ones stay unchanged. SQLite gives the WAL files
 * the mode of the database file. Throws the errors of fs.
 */
export function prepareFiles(filename: string): SqliteFiles {
  if (!existsSync(filename)) {
    mkdirSync(dirname(filename), { recursive: true, mode: OWNER_ONLY_FOLDER });
    closeSync(openSync(filename, 'a', OWNER_ONLY_FILE));
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
    const identity = identityOf(path);
    if (identity !== undefined) opened[path] ??= identity;
    if (identity === opened[path]) continue;
    throw moved(`${path} was removed or replaced: put it back, or restart the process`);
  }
}

/** The error of files that are not as they were opened. */
export function moved(message: string): Error {
  return Object.assign(new Error(message), { errcode: SQLITE_READONLY_DBMOVED });
}

/** Whether the write-ahead log is not there, and the database file still is. */
export function isLogRemoved({ filename, walFiles: [log = ''], opened }: SqliteFiles): boolean {
  const identity = identityOf(filename);
  return identity !== undefined && identity === opened[filename] && !existsSync(log);
}

/** Device and inode of a file; undefined when there is none. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Gives what `read` finds in a database file. Creates and changes no file. Throws the errors of node:sqlite. */
export function peekSqlite<Result>(filename: string, busyMs: number, read: (database: DatabaseSync) => Result): Result {
  // With immutable=1 SQLite creates no files and ignores the WAL, https://www.sqlite.org/uri.html#uriimmutable. An existing WAL
  // must be read, because it may hold all data of a new database.
  const search = existsSync(`${realpathSync(filename)}-wal`) ? 'mode=ro' : 'immutable=1';
  const url = Object.assign(pathToFileURL(filename), { search });
  using database = new DatabaseSync(url, { readOnly: true, timeout: busyMs });
  return read(database);
}
