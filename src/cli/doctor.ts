import type { Config } from '../config.ts';
import { maskCredentials } from '../config.ts';
import { connectDatabase, type Database } from '../database/connect.ts';
import { migrationStatus } from '../database/migrations.ts';
import { explainFailure } from '../failure.ts';
import { createKeyStore } from '../keys/key-store.ts';
import { LIST_LIMIT } from '../pets/pet.ts';
import { printTable, runCommand } from './command.ts';

const HELP = `One page: is everything as it should be?

  npm run doctor

Shows the configuration (secrets masked), whether the database answers, its version, the migrations, the number of
API keys and the limits. Exit code 1 when something is wrong. Changes nothing.`;

await runCommand({
  help: HELP,
  options: {},
  async run({ config }) {
    printSection('Configuration', describeConfig(config));
    const database = connectDatabase(config);
    try {
      const findings = await examine(database, config);
      printSection('Database', findings.rows);
      printSection('Limits', [
        ['list', `${LIST_LIMIT.least} to ${LIST_LIMIT.most} animals, by default ${LIST_LIMIT.fallback}`],
        ['body', `${config.bodyLimitBytes} bytes`],
      ]);
      for (const problem of findings.problems) console.log(`WRONG: ${problem}`);
      if (findings.problems.length === 0) console.log('All is well.');
      else process.exitCode = 1;
    } finally {
      await database.close();
    }
  },
});

interface Findings {
  readonly rows: string[][];
  readonly problems: string[];
}

async function examine(database: Database, config: Config): Promise<Findings> {
  const rows: string[][] = [];
  const problems: string[] = [];
  try {
    rows.push([
      'answers',
      `yes, ${database.engine === 'mysql' ? 'MySQL protocol' : 'SQLite'} ${await database.ping()}`,
    ]);
    const { completed, pending } = await migrationStatus(database);
    rows.push(['migrations', `${completed.length} done, ${pending.length} pending`]);
    if (pending.length > 0) {
      problems.push(`migrations are pending: npm run migrate${config.migrateOnStart ? ', or npm start' : ''}`);
      return { rows, problems };
    }
    const keys = await createKeyStore(database).list();
    const valid = keys.filter((key) => !key.revokedAt && (!key.expiresAt || key.expiresAt.getTime() > Date.now()));
    rows.push(['API keys', `${valid.length} valid of ${keys.length}`]);
    if (valid.length === 0) problems.push('no valid API key: npm run keys -- create --name NAME');
  } catch (error) {
    rows.push(['answers', 'no']);
    problems.push(explainFailure(error, config).line);
  }
  return { rows, problems };
}

function describeConfig(config: Config): string[][] {
  const shown = {
    HOST: config.host,
    PORT: config.port,
    DATABASE_URL: `${maskCredentials(config.databaseUrl)}${config.embedded ? ' (default)' : ''}`,
    DATABASE_POOL_MAX: config.databasePoolMax,
    PUBLIC_URL: config.publicUrl ?? 'from the request',
    CORS_ORIGINS: config.corsOrigins === '*' ? '*' : config.corsOrigins.join(', '),
    BODY_LIMIT: config.bodyLimitBytes,
    WORKERS: config.workers,
    LOG_LEVEL: config.logLevel,
    MIGRATE_ON_START: config.migrateOnStart,
    GRAPHIQL: config.graphiql,
    SAMPLE_DATA: config.sampleData,
    SHUTDOWN_GRACE_MS: config.shutdownGraceMs,
  };
  return Object.entries(shown).map(([name, value]) => [name, String(value)]);
}

function printSection(title: string, rows: readonly string[][]): void {
  console.log(title);
  printTable(rows.map(([label = '', ...cells]) => [`  ${label}`, ...cells]));
  console.log('');
}
