/*
 * Simulates gateways with the costs of scale.json, and holds the simulation against this machine: node bench/simulate.ts [--rounds N]
 * [--seconds N] [--grid FILE] writes SIMULATION.md. It says where the two differ. What was measured is written to FILE, or read
 * from it when it is there: then another simulation can be compared with the same measurement, and is only printed.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readFlags, readLength, TEXT } from './call.ts';
import { madeBy, writeReport } from './report-file.ts';
import type { ScaleResults } from './scale-report.ts';
import { type Checked, measureGrid } from './simulate-check.ts';
import { calibrate, costsTable, timesCosts } from './simulation/costs.ts';
import { FORECASTS, forecastTable } from './simulation/forecasts.ts';
import { type SystemResults, simulate } from './simulation/system.ts';
import { median } from './statistics.ts';
import { table } from './tables.ts';

const SEED = 36;
const THROUGHPUT_LIMIT = 0.15;
const P99_LIMIT = 0.3;
const ENGINE = 'MariaDB';

const flags = readFlags({ rounds: TEXT, seconds: TEXT, grid: TEXT });
const { rounds, seconds, isLong } = readLength(flags, { seconds: 2 });
const isMeasured = flags.grid === undefined || !existsSync(flags.grid);
const scale: ScaleResults = JSON.parse(readFileSync(join(import.meta.dirname, 'scale.json'), 'utf8'));
const calibration = calibrate(scale, ENGINE);
const cores = availableParallelism();
const grid = await readGrid();
const rows: string[][] = [];
let heldAsTheyAre = 0;
for (const checked of grid) {
  const { asTheyAre, likeMeasured } = await simulateLike(checked);
  if (toRow(checked, asTheyAre)[6] === 'yes') heldAsTheyAre++;
  rows.push(toRow(checked, likeMeasured));
  console.error(rows.at(-1)?.join(' '));
}
const held = (index: number) => rows.filter((row) => row[index] === 'yes').length;
const foreign = grid.map(({ foreignCores }) => foreignCores);
const columns = ['workers', 'round trip ms', 'operation', 'requests/s', 'simulated', 'ratio', 'within 15 %'];
const report = [
  '# The simulation beside the machine',
  madeBy(`with the costs of scale.json (${scale.madeOn})`),
  `The network shares the cores, too; other programs took ${median(foreign).toFixed(1)} of ${cores} cores meanwhile (${Math.min(...foreign).toFixed(1)} to ${Math.max(...foreign).toFixed(1)}), which the simulated machine lacks. The engine is ${ENGINE}. CPU costs are times what the gateway used in the same row, since it changes with what else runs. 32 connections ask without a pause.`,
  `Requests a second are within ${THROUGHPUT_LIMIT * 100} % in ${held(6)} of ${rows.length} rows, p99 within ${P99_LIMIT * 100} % in ${held(10)}. With the costs of scale.json as they are, requests a second are within ${THROUGHPUT_LIMIT * 100} % in ${heldAsTheyAre}.`,
  table([...columns, 'p99 ms', 'simulated', 'ratio', 'within 30 %'], rows),
  `Known reasons: all CPU of a worker's process is put on its one thread, but V8 has helpers (a process with one worker used up to ${mostOfOneWorker().toFixed(2)} cores); the CPU of the network was measured while it had little to do, and is less for each packet when it has much; pauses of the garbage collector, and the moments in which other programs run, are not simulated, so p99 comes out too low in most rows.`,
  '## Costs',
  'CPU in ms that the forecasts put on a request, beside what was measured: a line of least squares through 1, 8, 32 and 128 connections, by the statements for each request.',
  costsTable(scale, calibration.costs, ENGINE),
  '## Forecasts',
  `Simulated with these costs, of ${ENGINE}, as they are. A tenth of the requests are creates where nothing else is said, and lists of 20 and gets half of the others each, by REST and without an \`Idempotency-Key\`. A flush takes 1 ms, the round trip 0.3 ms, and 0.1 ms to the member of the same machine. Requests come by chance, at least 10,000 of them, so there are a few more or less than the plan says. Cores that the gateways use are of all their machines together; a database that shares a machine is in them, and so is the gateway in what the machine of the database uses. The other members' part of a cluster, the binary log, latches and a buffer pool that is too small are not simulated.`,
  await forecastTable(FORECASTS, calibration.costs, SEED),
]
  .join('\n\n')
  .concat('\n');
writeReport('SIMULATION.md', report, isLong && isMeasured);
process.exit(0);

async function readGrid(): Promise<Checked[]> {
  if (flags.grid !== undefined && !isMeasured) return JSON.parse(readFileSync(flags.grid, 'utf8'));
  const measured = await measureGrid(rounds, seconds);
  if (flags.grid !== undefined) writeFileSync(flags.grid, JSON.stringify(measured, undefined, 2));
  return measured;
}

/** With the costs of scale.json, and with costs times what the gateway used more or less than those. */
async function simulateLike(checked: Checked): Promise<{ asTheyAre: SystemResults; likeMeasured: SystemResults }> {
  const { kind, gatewayCpuMs } = checked;
  const asTheyAre = await simulateWith(checked, 1);
  const { requestMs, gatewayMs } = calibration.costs[kind];
  const factor = gatewayCpuMs / (requestMs + asTheyAre.statementsPerRequest * gatewayMs);
  return { asTheyAre, likeMeasured: await simulateWith(checked, factor) };
}

function simulateWith(checked: Checked, factor: number): Promise<SystemResults> {
  const { kind, workers, clients, proxyMs, addedMs, foreignCores } = checked;
  return simulate({
    seed: SEED,
    gateways: 1,
    workers,
    pool: 10,
    gatewayCores: Math.max(0.1, cores - foreignCores),
    databaseCores: 0,
    roundTripMs: calibration.waysMs * factor + addedMs,
    proxyMs,
    flushMs: calibration.flushMs,
    costs: timesCosts(calibration.costs, factor),
    mix: { list: 0, get: 0, create: 0, [kind]: 1 },
    load: { clients, clientMs: calibration.clientMs * factor },
    seconds: 3,
  });
}

function toRow(checked: Checked, simulated: SystemResults): string[] {
  const throughput = simulated.perSecond / checked.perSecond;
  const p99 = simulated.p99Ms / checked.p99Ms;
  const within = (ratio: number, limit: number) => (Math.abs(ratio - 1) <= limit ? 'yes' : 'no');
  return [
    String(checked.workers),
    checked.roundTrip,
    checked.kind,
    checked.perSecond.toFixed(0),
    simulated.perSecond.toFixed(0),
    throughput.toFixed(2),
    within(throughput, THROUGHPUT_LIMIT),
    checked.p99Ms.toFixed(1),
    simulated.p99Ms.toFixed(1),
    p99.toFixed(2),
    within(p99, P99_LIMIT),
  ];
}

/** Cores that the process of a gateway with one worker used at most. */
function mostOfOneWorker(): number {
  const ofOne = grid.filter(({ workers }) => workers === 1);
  return Math.max(...ofOne.map(({ gatewayCpuMs, perSecond }) => (gatewayCpuMs * perSecond) / 1000));
}
