import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { inspectDatabase } from '../../src/cli/command.ts';
import { readConfig } from '../../src/gateway/config.ts';
import { connectDatabase } from '../../src/gateway/database/connect.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS, samplePet } from '../../src/petstore/pets/pet.ts';
import { temporaryFolder } from '../support/engines.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** Opens, migrates and writes a database; gives the modes of all that then stands in its folder. */
async function useDatabase(filename: string): Promise<Record<string, string>> {
  const database = await connectDatabase(readConfig({ DATABASE_URL: `sqlite:${filename}` }));
  try {
    await migrateUp(database);
    const pets = createStores(database)(PETS);
    await pets.add(samplePet(0), null, deadlineIn(5000));
    await pets.get('1' as Int64, deadlineIn(5000));
    const folder = join(filename, '..');
    return Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));
  } finally {
    await database.close();
  }
}

describe('the files of the embedded store', () => {
  test('a store that was killed while all was in its log is known as ours', async () => {
    const folder = temporaryFolder();
    const database = await connectDatabase(readConfig({ DATABASE_URL: `sqlite:${join(folder, 'one.sqlite')}` }));
    await migrateUp(database);
    for (const suffix of ['', '-wal'])
      copyFileSync(join(folder, `one.sqlite${suffix}`), join(folder, `two.sqlite${suffix}`));
    await database.close();
    expect(Object.keys(await useDatabase(join(folder, 'two.sqlite')))).toContain('two.sqlite-wal');
  });

  test('a store that another process lets nobody read is waited for, and not called foreign', async () => {
    const path = join(temporaryFolder(), 'pets.sqlite');
    await useDatabase(path);
    const other = new DatabaseSync(path);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    await expect(useDatabase(path)).rejects.toMatchObject({ meaning: 'unavailable', cause: { errcode: 5 } });
    other.close();
    expect(Object.keys(await useDatabase(path))).toContain('pets.sqlite');
  });

  test('a store is found by a link to it', async () => {
    const folder = temporaryFolder();
    await useDatabase(join(folder, 'pets.sqlite'));
    symlinkSync(join(folder, 'pets.sqlite'), join(folder, 'link.sqlite'));
    expect(await useDatabase(join(folder, 'link.sqlite'))).toMatchObject({ 'pets.sqlite-wal': '600' });
  });
});

/** What DATABASE_URL may name by mistake; each is made at a path. */
const FOREIGN: Record<string, (path: string) => void> = {
  'a CSV file': (path) => writeFileSync(path, 'id,name\n1,Rex\n'),
  'a text that begins as a database does': (path) => writeFileSync(path, 'SQLite format 3\0 is what it begins with'),
  'a folder': (path) => mkdirSync(path),
  'a named pipe': (path) => void execFileSync('mkfifo', [path]),
  "another program's database": (path) => makeOther(path, 'CREATE TABLE notes (text)'),
  "another program's database, in WAL mode": (path) =>
    makeOther(path, 'PRAGMA journal_mode = WAL; CREATE TABLE notes (text)'),
  "another program's database by Knex": (path) =>
    makeOther(path, "CREATE TABLE knex_migrations (name); INSERT INTO knex_migrations VALUES ('1_init.js')"),
};

function makeOther(path: string, sql: string): void {
  const other = new DatabaseSync(path);
  other.exec(sql);
  other.close();
}

describe('what is no store of ours', () => {
  test.each(Object.entries(FOREIGN))('%s is refused by name, and stays as it is', async (_what, make) => {
    const folder = join(temporaryFolder(), 'theirs');
    const filename = join(folder, 'theirs.db');
    mkdirSync(folder);
    make(filename);
    chmodSync(filename, 0o664);
    chmodSync(folder, 0o2775);
    const config = readConfig({ DATABASE_URL: `sqlite:${filename}` });
    const before = stateOf(folder);
    const refusal = new RegExp(`^DATABASE_URL: ${filename} is not used and stays as it is: [^\\n]+$`);
    await expect(connectDatabase(config)).rejects.toThrow(refusal);
    await expect(inspectDatabase(config, async () => {})).rejects.toThrow(refusal);
    expect(stateOf(folder)).toEqual(before);
  });

  test('so is a database that another program has open', async () => {
    const folder = temporaryFolder();
    const filename = join(folder, 'theirs.db');
    const other = new DatabaseSync(filename);
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text)'); // all of it is in the log
    // Its readers, too, note in the index of the log how far they have read.
    const untouched = () => stateOf(folder).filter(({ path }) => !path.endsWith('-shm'));
    const before = untouched();
    await expect(connectDatabase(readConfig({ DATABASE_URL: `sqlite:${filename}` }))).rejects.toThrow(
      /of another program; name another file, or move this one away$/,
    );
    expect(untouched()).toEqual(before);
    other.close();
  });

  test('an empty file becomes a store, and keeps its mode; who only looks leaves it empty', async () => {
    const filename = join(temporaryFolder(), 'empty.sqlite');
    writeFileSync(filename, '');
    chmodSync(filename, 0o640);
    const before = stateOf(join(filename, '..'));
    const config = readConfig({ DATABASE_URL: `sqlite:${filename}` });
    expect(await inspectDatabase(config, async (_database, exists) => exists)).toBe(false);
    expect(stateOf(join(filename, '..'))).toEqual(before);
    expect(await useDatabase(filename)).toMatchObject({ 'empty.sqlite': '640', 'empty.sqlite-wal': '640' });
  });
});

/** Of a folder and all in it: mode, moment of the last change, and bytes. */
function stateOf(folder: string) {
  return [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => {
    const { mode, mtimeMs } = statSync(path);
    const bytes = statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
    return { path, mode, mtimeMs, bytes };
  });
}
