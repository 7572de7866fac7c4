import type { Knex } from 'knex';
import { NodeSqliteClient } from './sqlite-client.ts';
import { prepareFiles } from './sqlite-files.ts';

// biome-ignore lint/performance/noBarrelFile: a library has one entry; README.md says what for
export { peekSqlite } from './sqlite-files.ts';

/** Which database, and how long its statements wait. */
export interface NodeSqliteSettings {
  /** The path of a database file, or `:memory:`. */
  readonly filename: string;
  /** A statement's wait for the lock of another connection, in ms. */
  readonly busyMs: number;
  /** A query's wait for Knex's one connection, in ms: longer than `busyMs`, which the query before it may take. */
  readonly acquireMs: number;
}

/** Knex's settings for a database on node:sqlite. Creates a missing file and folder; throws the errors of fs. */
export function createSqliteConfig({ filename, busyMs, acquireMs }: NodeSqliteSettings): Knex.Config {
  const files = filename === ':memory:' ? undefined : prepareFiles(filename);
  const connection = { filename, files, busyMs };
  return {
    client: NodeSqliteClient,
    connection,
    useNullAsDefault: true,
    // One connection: node:sqlite is synchronous, so a second one could only wait for the first.
    pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1, acquireTimeoutMillis: acquireMs },
  };
}
