import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the migrations. */
export const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations');

/** The file names of the migrations in some folders, in their order. */
export function listMigrations(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => readdirSync(folder))
    .filter((file) => file.endsWith('.ts'))
    .sort();
}

/** The file names of the gateway's migrations. Read once: an upgrade may add some while the gateway runs. */
export const MIGRATIONS: readonly string[] = listMigrations([MIGRATIONS_FOLDER]);

/** Why a database with these completed migrations is refused; undefined when they are ours, or none where there may be none. */
export function whyForeign(completed: readonly unknown[], mayHaveNone = true): string | undefined {
  if (completed.includes('20261120_001_create_api_keys.ts'))
    return 'it is a store of before 1.0.0, and docs/upgrade.md says how to bring its data over';
  const isOurs = completed.length === 0 ? mayHaveNone : MIGRATIONS.some((name) => completed.includes(name));
  return isOurs ? undefined : 'it is the database of another program';
}
