/*
 * Simulates gateways with the costs of scale.json, and holds the simulation against this machine: node bench/simulate.ts [--rounds N]
 * [--seconds N] (about ten minutes) writes SIMULATION.md. It says where the two differ.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dateAndCommit } from './processes.ts';
import type { ScaleResults } from './scale-report.ts';
import { type Checked, measureGrid } from './simulate-check.ts';
import { calibrate } from './simulation/costs.ts';
import { FORECASTS, forecastTable } from './simulation/forecasts.ts';
import { type SystemResults, simulate } from './simulation/system.ts';
import { median } from './statistics.ts';
import { table } from './tables.ts';

const SEED = 36;
const THROUGHPUT_LIMIT = 0.15;
const P99_LIMIT = 0.3;
const ENGINE = 'MariaDB';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { rounds: { ...text, default: '3' }, seconds: { ...text, default: '2' } } });
const scale: ScaleResults = JSON.parse(readFileSync(join(import.meta.dirname, 'scale.json'), 'utf8'));
const calibration = calibrate(scale, ENGINE);
const cores = availableParallelism();
const grid = await measureGrid(Number(values.rounds), Number(values.seconds));
const rows: string[][] = [];
for (const checked of grid) {
  const simulated = await simulateLike(checked);
  rows.push(toRow(checked, simulated));
  console.error(rows.at(-1)?.join(' '));
}
const right = rows.filter((row) => row.at(-1) === 'yes').length;
const report = [
  '# The simulation beside the machine',
  `Made by \`node bench/simulate.ts\` on ${dateAndCommit()}, with the costs of scale.json (${scale.madeOn}). The gateway, the database, the load generator and the network share ${cores} cores; what other programs took meanwhile (median ${median(grid.map(({ foreignCores }) => foreignCores)).toFixed(1)} of a core) is taken off the simulated ones. 32 connections ask without a pause.`,
  `Wanted: requests a second within ${THROUGHPUT_LIMIT * 100} %, p99 within ${P99_LIMIT * 100} %. Both hold in ${right} of ${rows.length} rows.`,
  table(
    [
      'workers',
      'round trip ms',
      'operation',
      'requests/s',
      'simulated',
      'ratio',
      'p99 ms',
      'simulated',
      'ratio',
      'both hold',
    ],
    rows,
  ),
  '## Forecasts',
  'Simulated with the same costs. The database has its own machine unless it is said otherwise; every commit is flushed.',
  await forecastTable(FORECASTS, calibration, SEED),
].join('\n\n');
process.stdout.write(`${report}\n`);
writeFileSync(join(import.meta.dirname, 'SIMULATION.md'), `${report}\n`);
process.exit(0);

function simulateLike({ kind, workers, clients, proxyMs, addedMs, foreignCores }: Checked): Promise<SystemResults> {
  return simulate({
    seed: SEED,
    gateways: 1,
    workers,
    pool: 10,
    gatewayCores: Math.max(0.1, cores - foreignCores),
    databaseCores: 0,
    roundTripMs: calibration.waysMs + addedMs,
    proxyMs,
    flushMs: calibration.flushMs,
    costs: calibration.costs,
    mix: { list: 0, get: 0, create: 0, [kind]: 1 },
    load: { clients, clientMs: calibration.clientMs },
    seconds: 4,
  });
}

function toRow(checked: Checked, simulated: SystemResults): string[] {
  const throughput = simulated.perSecond / checked.perSecond;
  const p99 = simulated.p99Ms / checked.p99Ms;
  const holds = Math.abs(throughput - 1) <= THROUGHPUT_LIMIT && Math.abs(p99 - 1) <= P99_LIMIT;
  return [
    String(checked.workers),
    checked.roundTrip,
    checked.kind,
    checked.perSecond.toFixed(0),
    simulated.perSecond.toFixed(0),
    throughput.toFixed(2),
    checked.p99Ms.toFixed(1),
    simulated.p99Ms.toFixed(1),
    p99.toFixed(2),
    holds ? 'yes' : 'no',
  ];
}
