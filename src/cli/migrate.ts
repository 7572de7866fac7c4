import { UsageError } from '../gateway/command-line.ts';
import type { Database } from '../gateway/database/connect.ts';
import { migrateDown, migrateUp, migrationStatus } from '../gateway/database/migrations.ts';
import { inspectDatabase, runCommand, withDatabase } from './command.ts';

const HELP = `Schema migrations. Safe to run from several processes at once: one works, the others wait.

  npm run migrate                  run what is pending
  npm run migrate -- --status      what is done and what is pending; changes nothing
  npm run migrate -- --rollback    take back the last batch, WITH THE DATA OF ITS TABLES`;

await runCommand({
  help: HELP,
  options: { status: { type: 'boolean' }, rollback: { type: 'boolean' } },
  async run({ values, config }) {
    if (values.status && values.rollback) throw new UsageError('Give --status or --rollback, not both.');
    if (values.status) return inspectDatabase(config, printStatus);
    const work = values.rollback ? migrateDown : migrateUp;
    const names = await withDatabase({ ...config, migrateOnStart: false }, work);
    for (const name of names) console.log(`${values.rollback ? 'taken back' : 'done'}  ${name}`);
    if (names.length === 0) console.log('Nothing to do.');
  },
});

async function printStatus(database: Database): Promise<void> {
  const { completed, pending } = await migrationStatus(database);
  for (const name of completed) console.log(`done     ${name}`);
  for (const name of pending) console.log(`pending  ${name}`);
}
