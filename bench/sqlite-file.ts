import { DatabaseSync } from 'node:sqlite';
import { PETS_COUNT, seededPet } from './pets.ts';
import { runCommand } from './processes.ts';

/** Makes a SQLite file with all animals, by the commands of the checkout `root`; gives a valid API key for it. */
export function seedFile(path: string, root?: string): string {
  const url = `sqlite:${path}`;
  runCommand('src/cli/migrate.ts', [], url, root);
  const key = runCommand('src/cli/keys.ts', ['create', '--name', 'bench'], url, root);
  const database = new DatabaseSync(path);
  const insert = database.prepare('INSERT INTO pets (id, name, category_id, status) VALUES (?, ?, ?, ?)');
  database.exec('BEGIN');
  for (let number = 1; number <= PETS_COUNT; number++) {
    const { id, name, categoryId, status } = seededPet(number);
    insert.run(BigInt(id), name, BigInt(categoryId), status);
  }
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE); ANALYZE;');
  database.close();
  return key;
}
