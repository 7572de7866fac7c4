import { UsageError } from '../gateway/command-line.ts';
import { createDeprecatedUseStore, dayNumber } from '../gateway/keys/usage.ts';
import { printTable, runCommand, visibleName, withDatabase } from './command.ts';

const HELP = `Who still uses what is deprecated, over REST and over GraphQL.

  npm run deprecations -- report [--days 14] [--json]

  --days N    count the last N days, today included: 1 to 3650, by default 14
  --json      for programs

The gateway writes its counts once a minute.`;

const DAY_MS = 86_400_000;

await runCommand({
  help: HELP,
  options: { days: { type: 'string' }, json: { type: 'boolean' } },
  positionals: 1,
  async run({ values, positionals: [verb], config }) {
    if (verb !== 'report') throw new UsageError('Say what to do: report; --help tells more.');
    const days = Number(/^[1-9]\d{0,3}$/.exec(values.days ?? '14') ?? Number.NaN);
    if (!(days <= 3650)) throw new UsageError('--days must be a whole number from 1 to 3650.');
    const since = dayNumber(new Date(Date.now() - (days - 1) * DAY_MS));
    const rows = await withDatabase(config, (database) => createDeprecatedUseStore(database).sumSince(since));
    if (values.json) return console.log(JSON.stringify(rows, null, 2));
    if (rows.length === 0) return console.log(`Nothing deprecated was used in the last ${days} days.`);
    const lines = rows.map((row) => [visibleName(row.key), row.operation, String(row.count), row.lastSeen]);
    printTable([['key', 'operation', 'count', 'last seen'], ...lines]);
  },
});
