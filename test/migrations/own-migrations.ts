import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { MIGRATIONS_FOLDER } from '../../src/gateway/database/migration-files.ts';

/** A migration of a later version. */
export interface Migration {
  readonly name: string;
  up(knex: Knex): Promise<unknown>;
  down(knex: Knex): Promise<unknown>;
}

/** The folders of the gateway's migrations, and of what a later version may add. */
export const FOLDERS = [MIGRATIONS_FOLDER, join(import.meta.dirname, 'own')];

/** All migrations of these folders, in their order. */
export const ALL: readonly Migration[] = await Promise.all(
  FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .sort()
      .map(async (name) => ({ name, ...(await import(join(folder, name))) })),
  ),
);
