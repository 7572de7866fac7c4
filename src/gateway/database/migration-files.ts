import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the migrations. */
export const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations');

/** The file names of all migrations, in their order. */
export function listMigrations(): string[] {
  return readdirSync(MIGRATIONS_FOLDER)
    .filter((file) => file.endsWith('.ts'))
    .sort();
}
