import type { Config } from '../config.ts';
import type { Database } from '../database/connect.ts';
import { migrationStatus } from '../database/migrations.ts';
import { schemaProblems } from '../database/schema-check.ts';
import { examineSession } from '../database/session-check.ts';
import { explainFailure } from '../failure.ts';
import { type Weight, weighTypes } from '../graphql/cost.ts';
import { LIMITS } from '../graphql/limits.ts';
import { createKeyStore } from '../keys/key-store.ts';
import { PETS } from '../petstore/pets/pet.ts';
import { PETSTORE } from '../petstore/petstore.ts';
import { LIST_LIMIT } from '../schema/builder.ts';
import { createSchema } from '../schema/schema.ts';
import { openToLook, probeWrite } from './existing-database.ts';

/** What a look at the database finds. */
export interface Findings {
  readonly facts: Readonly<Record<string, string>>;
  /** One line each, with what to do. */
  readonly problems: readonly string[];
}

/** Looks at the database of the configuration, and changes nothing in it. */
export async function examineDatabase(config: Config): Promise<Findings> {
  if (config.inMemory) return { facts: { exists: 'in memory, while the gateway runs' }, problems: [] };
  const facts: Record<string, string> = {};
  const problems: string[] = [];
  const { database, exists } = openToLook(config);
  try {
    if (exists) await collectFacts(database, config, facts, problems);
    else {
      facts.exists = 'no';
      problems.push('there is no database file yet: npm start makes it');
    }
  } catch (error) {
    facts.answers ??= 'no';
    problems.push(explainFailure(error, config).line);
  } finally {
    await database.close();
  }
  return { facts, problems };
}

async function collectFacts(
  database: Database,
  config: Config,
  facts: Record<string, string>,
  problems: string[],
): Promise<void> {
  facts.answers = `yes, ${database.engine === 'mysql' ? 'MySQL protocol' : 'SQLite'} ${await database.ping()}`;
  if (database.engine === 'mysql') facts.encryption = await nameEncryption(database);
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
  facts['takes writes'] = 'no';
  await probeWrite(database, config, PETS).then(
    () => {
      facts['takes writes'] = 'yes';
    },
    (error) => problems.push(`the database takes no writes: ${explainFailure(error).line}`),
  );
  const keys = await createKeyStore(database).list();
  const valid = keys.filter((key) => !key.revokedAt && (!key.expiresAt || key.expiresAt.getTime() > Date.now()));
  facts['API keys'] = `${valid.length} valid of ${keys.length}`;
  if (valid.length === 0) problems.push('no valid API key: npm run keys -- create --name NAME');
}

async function nameEncryption(database: Database): Promise<string> {
  const [[row]] = await database.run((knex) => knex.raw("SHOW SESSION STATUS LIKE 'Ssl_version'"));
  return row?.Value || 'none: who has the network between can read all, and may learn the password';
}

/** The largest request of each kind. */
export function readLimits(config: Config): Readonly<Record<string, string>> {
  const weights = [...weighTypes(createSchema(PETSTORE)).values()];
  return {
    list: `${LIST_LIMIT.least} to ${LIST_LIMIT.most} ${PETSTORE.things}, by default ${LIST_LIMIT.fallback}`,
    body: `${config.bodyLimitBytes} bytes`,
    ...Object.fromEntries(Object.entries(LIMITS).map(([name, { most }]) => [`GraphQL ${name}`, String(most)])),
    ...Object.fromEntries(weights.flatMap(describeWeight)),
  };
}

function describeWeight({ things, mostObjects, mostLeaves }: Weight): [string, string][] {
  return [
    [`GraphQL ${things}`, String(mostObjects)],
    [`GraphQL values of ${things}`, String(mostLeaves)],
  ];
}
