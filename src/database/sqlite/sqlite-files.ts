import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { ConfigError } from '../../config.ts';

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;
const STICKY = 0o1000;

/** What stands beside a database: SQLite gives these the mode of the database, https://www.sqlite.org/walformat.html */
const BESIDE = ['', '-wal', '-shm', '-journal'];

/**
 * Makes the folder and the file of an embedded store, or finds them; the files, and a folder that is theirs alone, are
 * for their owner only, whatever the umask. Throws ConfigError when the folder cannot be made.
 */
export function prepareFiles(filename: string): void {
  const folder = dirname(filename);
  makeFolder(folder);
  try {
    if (isOursAlone(folder, filename)) chmodSync(folder, OWNER_ONLY_FOLDER);
    closeSync(openSync(filename, 'a', OWNER_ONLY_FILE));
    for (const file of filesOf(filename)) if (existsSync(file)) chmodSync(file, OWNER_ONLY_FILE);
  } catch {
    // Somebody else's, or not writable: SQLite says it in its own words, when the database is asked.
  }
}

function filesOf(filename: string): string[] {
  return BESIDE.map((suffix) => filename + suffix);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    throw new ConfigError(`DATABASE_URL: the folder ${folder} cannot be made: ${(error as Error).message}`); // fs throws Errors
  }
}

/**
 * Whether an earlier version has made the folder for the database. One that is empty, holds anything else, is shared
 * (sticky, such as /tmp) or is somebody's place to be is not ours to close.
 */
function isOursAlone(folder: string, filename: string): boolean {
  if ([homedir(), tmpdir(), process.cwd(), parse(folder).root].includes(folder)) return false;
  const { uid, mode } = statSync(folder);
  if (uid !== process.getuid?.() || (mode & STICKY) !== 0) return false;
  const found = readdirSync(folder).map((name) => join(folder, name));
  return found.includes(filename) && found.every((file) => filesOf(filename).includes(file));
}
