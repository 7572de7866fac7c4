// node deploy/restore.js STORE < BACKUP: an SQLite store from its backup, when that is whole. The present files go into the folder
// `aside` beside it. Run it as the gateway's account, which then owns the files.
import assert from 'node:assert';
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import '../src/cli/preload.cjs';

const { DatabaseSync } = await import('node:sqlite'); // which an older Node, refused above, does not have
const [store] = process.argv.slice(2);
const part = `${store}.part`;
const aside = join(dirname(store), 'aside');
process.umask(0o077);
try {
  mkdirSync(dirname(store), { recursive: true });
  rmSync(part, { force: true });
  await pipeline(process.stdin, createWriteStream(part, { flush: true })); // on the disk before it takes the place
  const copy = new DatabaseSync(part);
  assert.equal(copy.prepare('PRAGMA integrity_check').get().integrity_check, 'ok');
  copy.exec('SELECT 1 FROM knex_migrations'); // an empty file is a whole store, too
  mkdirSync(aside);
  for (const file of [store, `${store}-wal`, `${store}-shm`]) {
    if (existsSync(file)) renameSync(file, join(aside, basename(file)));
  }
  renameSync(part, store);
} catch (error) {
  rmSync(part, { force: true });
  console.error(`${error.message}\nNOT RESTORED`);
  process.exit(1);
}
