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
  checkFiles(files);
  return files;
}

/**
 * Throws SQLITE_READONLY_DBMOVED when one of the files was removed or replaced, because writes to an unlinked file are lost when
 * it is closed, or the database file emptied. The first check of a file stores its identity (device and inode). Without `pageBytes`,
 * which only an open database has, it looks at the database file alone; a new one is empty.
 */
export function checkFiles({ filename, walFiles, opened }: SqliteFiles, pageBytes?: number): void {
  for (const path of pageBytes === undefined ? [filename] : [filename, ...walFiles]) {
    const { identity, bytes } = look(path);
    if (identity !== undefined) opened[path] ??= identity;
    if (identity !== opened[path]) throw moved(`${path} was removed or replaced: put it back, or restart the process`);
    // In WAL mode the first page is always in the file.
    if (path === filename && bytes < (pageBytes ?? 0))
      throw moved(`${path} was emptied: stop the process, and restore it`);
  }
}

/** The error of files that are not as they were opened. */
export function moved(message: string): Error {
  return Object.assign(new Error(message), { errcode: SQLITE_READONLY_DBMOVED });
}

/** Whether the write-ahead log is not there, and the database file still is. */
export function isLogRemoved({ filename, walFiles: [log = '', index = ''], opened }: SqliteFiles): boolean {
  if (look(filename).identity !== opened[filename]) return false;
  const { identity, bytes } = look(log);
  // Another process that has opened the database since has made an empty one.
  const isNew = bytes === 0 && identity !== opened[log] && look(index).identity === opened[index];
  return identity === undefined || isNew;
}

/** Device and inode of a file, undefined when there is none, and its size. */
function look(path: string) {
  const found = statSync(path, { throwIfNoEntry: false });
  return { identity: found && `${found.dev}:${found.ino}`, bytes: found?.size ?? 0 };
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
