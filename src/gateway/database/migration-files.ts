import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the migrations. */
export const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations');

/** The file names of all migrations, in their order. Read once: an upgrade may add some while the gateway runs. */
export const MIGRATIONS: readonly string[] = readdirSync(MIGRATIONS_FOLDER)
  .filter((file) => file.endsWith('.ts'))
  .sort();
