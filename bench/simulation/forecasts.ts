import { table } from '../tables.ts';
import type { Calibration } from './costs.ts';
import { type SystemOptions, simulate } from './system.ts';

/** A plan that an operator may have, and the requests a second that it shall bear. */
export interface Forecast
  extends Pick<SystemOptions, 'gateways' | 'workers' | 'pool' | 'gatewayCores' | 'databaseCores'> {
  readonly name: string;
  readonly perSecond: number;
  /** Of the requests, those that create; the others list and get, as many each. */
  readonly creates: number;
  readonly roundTripMs: number;
}

const machines = (gateways: number, workers: number, databaseCores: number) => ({
  ...{ gateways, workers, databaseCores, pool: 10, gatewayCores: workers, roundTripMs: 0.3, creates: 0.1 },
});

export const FORECASTS: readonly Forecast[] = [
  { name: '100/s', ...machines(1, 1, 2), perSecond: 100 },
  { name: '1,000/s', ...machines(1, 1, 2), perSecond: 1000 },
  { name: '5,000/s', ...machines(2, 4, 8), perSecond: 5000 },
  { name: '5,000/s, half of them creates', ...machines(2, 4, 8), perSecond: 5000, creates: 0.5 },
  { name: '5,000/s, database 10 ms away', ...machines(2, 4, 8), perSecond: 5000, roundTripMs: 10 },
  { name: '20,000/s', ...machines(4, 8, 16), perSecond: 20_000 },
  { name: '50,000/s', ...machines(8, 8, 32), perSecond: 50_000 },
];

const SECONDS = 2;

/** The forecasts as a table. */
export async function forecastTable(forecasts: readonly Forecast[], calibration: Calibration, seed: number) {
  const rows: string[][] = [];
  for (const { name, perSecond, creates, ...system } of forecasts) {
    const reads = (1 - creates) / 2;
    const found = await simulate({
      ...system,
      seed,
      proxyMs: 0,
      flushMs: calibration.flushMs,
      costs: calibration.costs,
      mix: { list: reads, get: reads, create: creates },
      load: { perSecond },
      seconds: SECONDS,
    });
    console.error(`${name}: ${Math.round(found.perSecond)}/s`);
    rows.push([
      name,
      `${system.gateways} × ${system.workers}`,
      String(system.databaseCores),
      found.perSecond.toFixed(0),
      found.p50Ms.toFixed(1),
      found.p99Ms.toFixed(1),
      found.databaseCores.toFixed(1),
      found.statementsPerRequest.toFixed(2),
      found.commitsPerSecond.toFixed(0),
    ]);
  }
  const columns = ['plan', 'gateways × workers', 'database cores', 'answered/s', 'p50 ms', 'p99 ms'];
  return table([...columns, 'database cores used', 'statements each', 'commits/s'], rows);
}
