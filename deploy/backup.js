// node deploy/backup.js STORE BACKUP [KEEP]: a copy of an SQLite store in use. It is whole, or the older one stays. KEEP: so many,
// the older ones as BACKUP.1, BACKUP.2 …
import assert from 'node:assert';
import { randomUUID } from 'node:crypto';
import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs';
import '../src/cli/preload.cjs';

const { DatabaseSync } = await import('node:sqlite'); // which an older Node, refused above, does not have
const [store, backup, keep = '1'] = process.argv.slice(2);
const part = `${backup}.${randomUUID()}.part`; // another backup may run
const DAY_MS = 86_400_000;
process.umask(0o077);
try {
  // What a backup left that was killed. Another one may be done meanwhile, and its part gone.
  for (const left of globSync(`${backup}.*.part`)) {
    const { mtimeMs = Date.now() } = statSync(left, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > DAY_MS) rmSync(left, { force: true });
  }
  new DatabaseSync(store, { readOnly: true, timeout: 5000 }).prepare('VACUUM INTO ?').run(part);
  const copy = new DatabaseSync(part); // opened read-only, SQLite would check no CHECK
  assert.equal(copy.prepare('PRAGMA integrity_check').get().integrity_check, 'ok');
  copy.exec('SELECT 1 FROM knex_migrations'); // an empty file is a whole store, too
  for (let age = Number(keep) - 1; age > 0; age--) {
    const newer = age === 1 ? backup : `${backup}.${age - 1}`;
    if (existsSync(newer)) renameSync(newer, `${backup}.${age}`);
  }
  renameSync(part, backup);
} catch (error) {
  rmSync(part, { force: true });
  console.error(`${error.message}\nNO BACKUP`);
  process.exit(1);
}
