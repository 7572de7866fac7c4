import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { MIGRATIONS_FOLDER } from '../../src/gateway/database/migration-files.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { describeEachEngine, describeOnMysql, type TestEngine, temporaryFolder } from '../support/engines.ts';
import { openDatabase } from '../support/prepared.ts';
import { ALL, FOLDERS } from './own-migrations.ts';
import { readWholeSchema } from './whole-schema.ts';

/** What changes nothing, and so leaves nothing behind when it is the last that was done. */
const CHANGES_NOTHING = /^\s*(?:select|show|pragma|set|do|begin|start|commit|rollback|savepoint|release)\b/i;

/**
 * The database, whose work of minutes loses its connection when `most` of its changing statements are done: whatever it
 * asks after that fails, a rollback too. `done` tells those that were done.
 */
function losingItsConnection(database: Database, most = Number.POSITIVE_INFINITY) {
  const done: string[] = [];
  const forLongWork = (): Database => {
    const own = database.forLongWork();
    // A transaction's client is made anew from this prototype, so a change of the client itself would not reach it.
    const prototype = Object.getPrototypeOf(own.knex.client);
    const ask = prototype._query;
    let isLost = false;
    prototype._query = function (connection: unknown, query: { sql: string }) {
      const changes = !CHANGES_NOTHING.test(query.sql);
      isLost ||= changes && done.length >= most;
      if (isLost) return Promise.reject(new Error('the connection is lost'));
      if (changes) done.push(query.sql);
      return ask.call(this, connection, query);
    };
    const close = async () => {
      prototype._query = ask;
      await own.close();
    };
    return { ...own, close };
  };
  return { database: { ...database, forLongWork }, done };
}

/** What a database has now: its schema, and which migrations it calls done. */
async function stateOf(database: Database) {
  const schema = await readWholeSchema(database);
  const done = schema.has('table knex_migrations')
    ? await database.knex('knex_migrations').orderBy('id').pluck('name')
    : [];
  return { schema: Object.fromEntries(schema), done };
}

/** Migrates as far as `most` changing statements, on a connection that is then lost: what was done, and what is left. */
async function migrateCut(engine: TestEngine, folders: string[], most?: number) {
  const url = await engine.freshDatabase();
  const first = await openDatabase(url);
  const { database, done } = losingItsConnection(first, most);
  const outcome = await migrateUp(database, folders).then(
    () => 'whole',
    () => 'cut',
  );
  await first.close(); // the connection is gone, and with it what was not committed
  return { database: await openDatabase(url), outcome, done };
}

describeEachEngine('migrations that lose the database', (engine) => {
  test('after any statement are whole after the next run, as if nothing had been', { timeout: 600_000 }, async () => {
    const whole = await migrateCut(engine, FOLDERS);
    const expected = await stateOf(whole.database);
    await whole.database.close();
    expect(whole.outcome).toBe('whole');
    expect(expected.done).toEqual(ALL.map(({ name }) => name));
    expect(whole.done.length).toBeGreaterThan(2 * ALL.length); // each is noted by a statement of its own
    for (let most = 0; most < whole.done.length; most++) {
      const { database, outcome, done } = await migrateCut(engine, FOLDERS, most);
      expect(outcome).toBe('cut');
      if (engine.name === 'sqlite') expect(await stateOf(database)).toEqual({ schema: {}, done: [] });
      await migrateUp(database, FOLDERS);
      expect(await stateOf(database), `cut after statement ${most}: ${done.at(-1)}`).toEqual(expected);
      await database.close();
    }
  });
});

describeOnMysql('a migration that does not look what is done', (engine) => {
  test('does not go on after a cut between its statements', async () => {
    const folder = temporaryFolder();
    const up = "knex.raw('CREATE TABLE tags (id bigint)').then(() => knex.raw('CREATE INDEX tags_id ON tags (id)'))";
    writeFileSync(join(folder, '20990102_000_tags.ts'), `export const up = (knex) => ${up}; export const down = up;`);
    const folders = [MIGRATIONS_FOLDER, folder];
    const whole = await migrateCut(engine, folders);
    const beforeIndex = whole.done.findIndex((sql) => sql.startsWith('CREATE INDEX tags_id'));
    const { database } = await migrateCut(engine, folders, beforeIndex);
    await expect(migrateUp(database, folders)).rejects.toThrow();
  });
});
