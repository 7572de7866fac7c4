import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { connectDatabase } from '../../src/database/connect.ts';
import { migrateUp } from '../../src/database/migrations.ts';
import { prepareFiles } from '../../src/database/sqlite/sqlite-files.ts';
import { deadlineIn } from '../../src/deadline.ts';
import type { Int64 } from '../../src/int64.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { samplePet } from '../../src/petstore/pets/sample-pets.ts';
import { createStores } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/engines.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** Opens, migrates and writes a database; gives the modes of all that then stands in its folder. */
async function useDatabase(filename: string): Promise<Record<string, string>> {
  const database = connectDatabase(readConfig({ DATABASE_URL: `sqlite:${filename}` }));
  try {
    await migrateUp(database);
    const pets = createStores(database)(PETS);
    await pets.add(samplePet(0), null, deadlineIn());
    await pets.get('1' as Int64, deadlineIn());
    const folder = join(filename, '..');
    return Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));
  } finally {
    await database.close();
  }
}

describe('the files of the embedded store', () => {
  test('a new folder and all its files are for their owner only', async () => {
    const folder = join(temporaryFolder(), 'deep', 'data');
    const modes = await useDatabase(join(folder, 'pets.sqlite'));
    expect(modes).toEqual({ 'pets.sqlite': '600', 'pets.sqlite-shm': '600', 'pets.sqlite-wal': '600' });
    expect(modeOf(folder)).toBe('700');
  });

  test('a folder and a file that an earlier version left open are closed', async () => {
    const folder = join(temporaryFolder(), 'data');
    const filename = join(folder, 'pets.sqlite');
    await useDatabase(filename);
    chmodSync(folder, 0o755);
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
    const modes = await useDatabase(filename);
    expect(new Set(Object.values(modes))).toEqual(new Set(['600']));
    expect(modeOf(folder)).toBe('700');
  });

  test.each([
    ['holds something else', 0o755, ['pets.sqlite', 'notes.txt']],
    ['is empty', 0o755, []],
    ['is shared, as /tmp is', 0o1777, ['pets.sqlite']],
  ])('a folder that %s keeps its mode', (_what, mode, names) => {
    const folder = join(temporaryFolder(), 'shared');
    mkdirSync(folder);
    for (const name of names) writeFileSync(join(folder, name), '');
    chmodSync(folder, mode);
    prepareFiles(join(folder, 'pets.sqlite'));
    expect(modeOf(folder)).toBe(mode.toString(8));
    expect(modeOf(join(folder, 'pets.sqlite'))).toBe('600');
  });
});
