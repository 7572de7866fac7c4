import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { CREATE_KEY, explainFailure } from '../gateway/command-line.ts';
import { type Config, ConfigError, describeSettings } from '../gateway/config.ts';
import type { Database } from '../gateway/database/connect.ts';
import { isRefused } from '../gateway/database/faults.ts';
import { migrationStatus } from '../gateway/database/migrations.ts';
import { examineSession, insertTriggers, schemaProblems } from '../gateway/database/schema-check.ts';
import { REQUEST_MS } from '../gateway/deadlines.ts';
import { describeUnknown } from '../gateway/dot-env.ts';
import { limitsByType } from '../gateway/graphql/cost.ts';
import { LIMITS } from '../gateway/graphql/limits.ts';
import { createKeyStore } from '../gateway/keys/key-store.ts';
import { LIST_LIMIT } from '../gateway/schema/builder.ts';
import { createSchema } from '../gateway/schema/schema.ts';
import { createStores } from '../gateway/store/store.ts';
import { columnsOf, type Table } from '../gateway/store/table.ts';
import { checkWrites } from '../gateway/store/write-check.ts';
import { deadlineIn } from '../lib/deadline/deadline.ts';
import { PETSTORE } from '../petstore/petstore.ts';
import { databaseFile, inspectDatabase, printTable, runCommand } from './command.ts';

const HELP = `One page: is everything as it should be? Changes and creates nothing.

  npm run doctor [-- --json]

Shows the configuration (secrets masked), unknown names, whether the database
answers and takes writes, its version, the migrations, the schema, the number
of API keys and the limits. Rows that it adds, to see whether they are kept,
are rolled back; a server may use up their ids.

  --json      for programs

Exit code 1 when something is wrong.`;

await runCommand({
  help: HELP,
  options: { json: { type: 'boolean' } },
  async run({ config, unknownNames, values }) {
    const configuration = describeSettings(config);
    // A name that resembles no setting may belong to another program: Compose reads the same file.
    const problems = unknownNames.filter(({ meant }) => meant !== undefined).map(describeUnknown);
    const database = await examineDatabase(config, problems);
    const limits = limitsOf(config);
    const well = problems.length === 0;
    if (!well) process.exitCode = 1;
    const page = { well, problems, configuration, unknownNames, database, limits };
    if (values.json) return console.log(JSON.stringify(page, null, 2));
    const shown = (value: string | undefined, isDefault: boolean) =>
      value === undefined ? 'not set' : `${value}${isDefault ? ' (default)' : ''}`;
    const settings = configuration.map(({ name, value, isDefault }) => [name, shown(value, isDefault)]);
    printSection('Configuration', settings);
    const hint = (meant: string | undefined) => (meant ? `did you mean ${meant}?` : 'no setting');
    const others = unknownNames.map(({ place, name, meant }) => [name, place, hint(meant)]);
    if (others.length > 0) printSection('Unknown names', others);
    printSection('Database', Object.entries(database));
    printSection('Limits', Object.entries(limits));
    for (const problem of problems) console.log(`WRONG: ${problem}`);
    if (well) console.log('All is well.');
  },
});

function printSection(title: string, rows: readonly (readonly string[])[]): void {
  console.log(title);
  printTable(rows.map(([label, ...cells]) => [`  ${label}`, ...cells]));
  console.log('');
}

/** Gives facts about the database by name and changes nothing in it. Adds a line, with what to do, to `problems` for each. */
async function examineDatabase(config: Config, problems: string[]): Promise<Record<string, string>> {
  if (config.inMemory) return { exists: 'in memory, while the gateway runs' };
  const facts: Record<string, string> = {};
  const noteFailure = (error: unknown) => {
    facts.answers ??= 'no';
    problems.push(explainFailure(error, config).line);
  };
  const examined = inspectDatabase(config, async (database, exists) => {
    if (exists) return collectFacts(database, config, facts, problems).catch(noteFailure);
    facts.exists = 'no';
    problems.push('there is no database file yet: npm start makes it');
  });
  // Such as a file that another process has locked. A wrong address is a wrong setting.
  await examined.catch((error) => (error instanceof ConfigError ? Promise.reject(error) : noteFailure(error)));
  return facts;
}

/** Adds to `facts` and `problems`. The facts found before an error stay in `facts`. */
async function collectFacts(database: Database, config: Config, facts: Record<string, string>, problems: string[]) {
  facts.answers = `yes, ${database.engine === 'mysql' ? 'MySQL protocol' : 'SQLite'} ${await database.ping()}`;
  if (database.engine === 'mysql') {
    const [[row]] = await database.run((knex) => knex.raw("SHOW SESSION STATUS LIKE 'Ssl_version'"));
    facts.encryption = row?.Value || 'none: who has the network between can read all, and may learn the password';
  }
  const session = await examineSession(database);
  Object.assign(facts, session.facts);
  problems.push(...session.problems);
  const { completed, pending } = await migrationStatus(database);
  facts.migrations = `${completed.length} done, ${pending.length} pending`;
  if (pending.length > 0) {
    problems.push(`migrations are pending: npm run migrate${config.migrateOnStart ? ', or npm start' : ''}`);
    return;
  }
  const faults = await schemaProblems(database);
  facts.schema = faults.length === 0 ? 'as the migrations make it' : 'not as the migrations make it';
  problems.push(...faults);
  const tables = PETSTORE.resources.map(({ table }) => table);
  const names = tables.map(({ name }) => name);
  const triggers = await insertTriggers(database, names);
  if (triggers.length > 0) facts.triggers = triggers.join('; ');
  try {
    const file = databaseFile(config);
    if (file !== undefined) {
      for (const path of [file, dirname(file)]) accessSync(path, constants.W_OK);
      // Else the rows stay in memory, and a full disk is not seen.
      await database.run((knex) => knex.raw('PRAGMA cache_size = 1'));
    }
    const changed = await checkWrites(database, tables, { ids: 'of ours' });
    if (changed === undefined) await checkWrites(database, tables, { ownTables: true });
    else problems.push(`the database changes what is written: ${changed}`);
    facts['takes writes'] = changed === undefined ? 'yes' : 'changed';
  } catch (error) {
    facts['takes writes'] = 'no';
    const does = isRefused(error) ? 'refuses some writes' : 'takes no writes';
    problems.push(`the database ${does}: ${explainFailure(error).line}`);
  }
  const notList = (error: unknown) => void problems.push(explainFailure(error).line);
  if (faults.length === 0) for (const table of tables) await listByEachFilter(database, table).catch(notList);
  const keys = await createKeyStore(database).list();
  const valid = keys.filter((key) => !key.revokedAt && (!key.expiresAt || key.expiresAt.getTime() > Date.now()));
  facts['API keys'] = `${valid.length} valid of ${keys.length}`;
  if (valid.length === 0) problems.push(`no valid API key: ${CREATE_KEY}`);
}

/** As requests do: the database may be told to ignore an index that a list names. */
async function listByEachFilter(database: Database, table: Table): Promise<void> {
  const { list } = createStores(database)(table);
  const filters = columnsOf(table).filter(({ index }) => index !== undefined);
  const queries = filters.map(({ name, kind }) => ({ limit: 1, after: null, [name]: kind.probes[0] }));
  await Promise.all(queries.map((query) => list(query, deadlineIn(REQUEST_MS))));
}

function limitsOf(config: Config): Record<string, string> {
  const limits: Record<string, string> = {
    list: `${LIST_LIMIT.min} to ${LIST_LIMIT.max} ${PETSTORE.plural}, by default ${LIST_LIMIT.defaultValue}`,
    body: `${config.bodyLimitBytes} bytes`,
  };
  for (const [name, { max }] of Object.entries(LIMITS)) limits[`GraphQL ${name}`] = String(max);
  for (const [{ extensions }, { plural, maxObjects, maxLeaves }] of limitsByType(createSchema(PETSTORE))) {
    if (!('countedAs' in extensions)) continue; // it never comes in such numbers
    limits[`GraphQL ${plural}`] = String(maxObjects);
    limits[`GraphQL values of ${plural}`] = String(maxLeaves);
  }
  return limits;
}
