/*
 * What a database at a distance costs: node bench/distance.ts [--rounds N] [--seconds N] [--network NAMES] writes DISTANCE.md.
 * The gateway beside hand-written Koa + Knex, both behind the same network.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pick, readFlags, readLength, TEXT } from './call.ts';
import { startDatabase } from './database.ts';
import { type Measurement, measureAll } from './measure.ts';
import { installComparisons, leaveFirstCore } from './processes.ts';
import { refuseWrong } from './report.ts';
import { madeBy, writeReport } from './report-file.ts';
import { measurementsOf, ratio } from './statistics.ts';
import { table, withSpread } from './tables.ts';

interface Network {
  readonly name: string;
  readonly title: string;
  /** The words of network.ts after the port. */
  readonly words: readonly [delayMs: number, lateEvery: number, lateMs: number];
  readonly workloads: readonly string[];
  readonly concurrencies: readonly number[];
  /** The least ratio of requests a second that the gateway wants, by number of connections. */
  readonly goal: (concurrency: number) => number;
}

const WORKLOADS = ['list-20', 'get', 'create'];
const away = (delayMs: number): Network => ({
  name: `${delayMs}ms`,
  title: `${delayMs} ms away`,
  words: [delayMs, 0, 0],
  workloads: WORKLOADS,
  concurrencies: [1, 4, 16, 32, 128],
  goal: (concurrency) => (concurrency >= 32 ? 1.5 : 0.97),
});
const NETWORKS: readonly Network[] = [
  away(1),
  away(5),
  away(20),
  {
    name: 'late',
    title: '1 ms away, and one piece of TCP in 50 is 200 ms late',
    words: [1, 50, 200],
    workloads: ['list-20'],
    concurrencies: [6, 32],
    goal: () => 1,
  },
];

const flags = readFlags({ rounds: TEXT, seconds: TEXT, network: TEXT });
const { rounds, seconds, isLong } = readLength(flags, { seconds: 2 });
const names = NETWORKS.map(({ name }) => name);
const wanted = pick('--network', flags.network, names) ?? names;

installComparisons();
leaveFirstCore();
const database = await startDatabase();
const sections: string[] = [];
for (const network of NETWORKS.filter(({ name }) => wanted.includes(name))) {
  const { url, end } = await startNetwork(database.url, network);
  const options = {
    rounds,
    seconds,
    warmUpSeconds: 2,
    workloads: network.workloads,
    contenders: ['gateway', 'koa-knex'],
    apis: ['rest'],
    concurrencies: network.concurrencies,
  } as const;
  const note = (line: string) => console.error(`${network.title}: ${line}`);
  const measurements = await measureAll(options, { ...database, url }, note);
  refuseWrong(measurements);
  sections.push(describe(network, measurements));
  end();
}
const report = [
  '# A database at a distance',
  madeBy(`${database.version}, 100,000 animals, 10 connections to the database each`),
  `Medians of ${rounds} alternating rounds with freshly started processes. The way is the time of one direction, so a query takes twice that at least.`,
  ...sections,
]
  .join('\n\n')
  .concat('\n');
writeReport('DISTANCE.md', report, isLong && names.every((name) => wanted.includes(name)));
await database.close();
process.exit(0);

async function startNetwork(databaseUrl: string, { words }: Network): Promise<{ url: string; end: () => void }> {
  const target = /:(\d+)\//.exec(databaseUrl)?.[1] ?? '';
  const script = join(import.meta.dirname, 'network.ts');
  const child = spawn(process.execPath, [script, target, ...words.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  const [port] = await once(child.stdout, 'data');
  return { url: databaseUrl.replace(`:${target}/`, `:${String(port).trim()}/`), end: () => child.kill() };
}

function describe({ title, workloads, concurrencies, goal }: Network, measurements: readonly Measurement[]): string {
  const rows = workloads.flatMap((workload) =>
    concurrencies.map((concurrency) => {
      const place = { api: 'rest', workload, concurrency } as const;
      const figures = (contender: string, figure: 'requestsPerSecond' | 'p50Ms') =>
        withSpread(
          measurementsOf(measurements, contender, place).map((one) => one[figure]),
          figure === 'p50Ms' ? 2 : 0,
        );
      const value = ratio(measurements, 'requestsPerSecond', 'gateway', 'koa-knex', place);
      return [
        workload,
        String(concurrency),
        figures('gateway', 'requestsPerSecond'),
        figures('koa-knex', 'requestsPerSecond'),
        value.toFixed(2),
        `≥ ${goal(concurrency)}${value >= goal(concurrency) ? '' : ' **not reached**'}`,
        figures('gateway', 'p50Ms'),
        figures('koa-knex', 'p50Ms'),
      ];
    }),
  );
  const columns = ['workload', 'c', 'requests/s', 'Koa + Knex', 'ratio', 'goal', 'p50 ms', 'Koa + Knex'];
  return `## ${title}\n\n${table(columns, rows)}`;
}
