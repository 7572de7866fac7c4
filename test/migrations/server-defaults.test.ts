import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { schemaProblems } from '../../src/gateway/database/schema-check.ts';
import { command } from '../cli/command.ts';
import { afterFile, describeOnMysql, ENGINES } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { startMysqlServer } from '../support/mysql-server.ts';
import { openDatabase } from '../support/prepared.ts';
import { has } from '../support/tools.ts';
import { readWholeSchema } from './whole-schema.ts';

/** Everything that a server can make of a table by itself; what a server does not know, it leaves out. */
const OTHER_DEFAULTS = [
  '--default-storage-engine=MyISAM',
  '--character-set-server=latin1',
  '--collation-server=latin1_swedish_ci',
  '--innodb-default-row-format=redundant',
  '--explicit-defaults-for-timestamp=0',
  '--lower-case-table-names=1',
  '--loose-sql-require-primary-key=1',
  '--loose-innodb-force-primary-key=1',
  '--loose-sql-generate-invisible-primary-key=1',
];

/** The schema but for Knex's own tables: their character set and row format are the server's. */
async function schemaOf(database: Database) {
  const schema = await readWholeSchema(database);
  return [...schema].filter(([what]) => !/^(?:column|table) knex_/.test(what));
}

const mysql = ENGINES.find(({ name }) => name === 'mysql');

describe.runIf(has('database') && mysql)('tables on a server with other defaults', () => {
  test('are those of any server, and new ones undo what fails', async () => {
    const program = process.env.STRESS_SERVER; // of another server's program
    const server = await startMysqlServer(OTHER_DEFAULTS, program);
    afterFile(server.remove);
    const other = await openDatabase(server.url);
    await other.run((knex) => knex.raw('CREATE DATABASE others'));
    const database = await openDatabase(server.url.replace(/\/mysql$/, '/others'));
    await migrateUp(database);
    const usual = await openDatabase((await mysql?.freshDatabase()) ?? '');
    await migrateUp(usual);
    const engines = (await schemaOf(database)).flatMap(([what, kind]) => (what.startsWith('table') ? [kind] : []));
    expect(new Set(engines)).toEqual(new Set(['InnoDB dynamic']));
    expect((await readWholeSchema(database)).get('table knex_migrations')).toMatch(/^InnoDB /);
    if (program === undefined) expect(await schemaOf(database)).toEqual(await schemaOf(usual));
    expect(await schemaProblems(database)).toEqual([]);
    await database.close();
  });
});

describeOnMysql('a table whose engine has no transactions', (given) => {
  test('is refused by a start, and wrong to the doctor, with the statement that repairs it', async () => {
    const url = await given.freshDatabase();
    const database = await openDatabase(url);
    await migrateUp(database);
    const { knex } = database;
    await knex.raw('ALTER TABLE idempotency_keys ENGINE=MyISAM');
    const problems = await schemaProblems(database);
    expect(problems).toEqual([
      expect.stringMatching(/^table idempotency_keys has the engine MyISAM, .*ALTER TABLE idempotency_keys ENGINE=/),
    ]);
    for (const MIGRATE_ON_START of ['true', 'false']) {
      const start = startGateway(given, { DATABASE_URL: url, MIGRATE_ON_START, LOG_LEVEL: 'silent' });
      await expect(start).rejects.toThrow(/ table idempotency_keys has the engine MyISAM.*: ALTER TABLE/);
    }
    await knex.raw(problems[0]?.split('InnoDB: ').at(-1) ?? '');
    await startGateway(given, { DATABASE_URL: url, LOG_LEVEL: 'silent' });
    expect((await readWholeSchema(database)).get('table idempotency_keys')).toBe('InnoDB dynamic');
  });

  test('is not written to by what only tries a write: the doctor says it, and readiness is 503', async () => {
    const url = await given.freshDatabase();
    const gateway = await startGateway(given, { DATABASE_URL: url, LOG_LEVEL: 'silent' });
    const { knex } = gateway.database;
    await knex.raw('ALTER TABLE pets ENGINE=MyISAM');
    const { code, stdout } = await command('doctor', [], { DATABASE_URL: url });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^WRONG: table pets has the engine MyISAM/m);
    expect(await knex('pets')).toEqual([]);
    await knex.schema.renameTable('pets', 'away');
    expect((await gateway.createPet({ name: 'Rex', categoryId: 1 })).status).toBe(503);
    await knex.schema.renameTable('away', 'pets');
    const isReady = async () => (await gateway.request('/readyz')).status === 200;
    await eventually(async () => !(await isReady()), 5000, 'readiness says it');
    expect(await knex('pets')).toEqual([]);
    await knex.raw('ALTER TABLE pets ENGINE=InnoDB');
    await eventually(isReady, 5000, 'it is ready again');
  });
});
