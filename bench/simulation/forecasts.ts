import { table } from '../tables.ts';
import { type SystemOptions, simulate } from './system.ts';

/** A plan that an operator may have, and the requests a second that it shall bear. */
export interface Forecast
  extends Pick<SystemOptions, 'gateways' | 'workers' | 'pool' | 'gatewayCores' | 'databaseCores' | 'roundTripMs'> {
  readonly name: string;
  readonly perSecond: number;
  /** The part of the requests that create; the others list and get, as many each. */
  readonly creates: number;
}

const machines = (gateways: number, workers: number, databaseCores: number) => ({
  ...{ gateways, workers, databaseCores, pool: 10, gatewayCores: workers, roundTripMs: 0.3, creates: 0.1 },
});
/** Machines of 8 cores with a gateway each; the first has the primary, too. */
const shared = (gateways: number) => ({ ...machines(gateways, 4, 0), gatewayCores: 8 });
/** One of three machines of 8 cores, with a gateway and a member of the cluster. */
const member = { ...machines(1, 4, 0), gatewayCores: 8, roundTripMs: 0.1 };

export const FORECASTS: readonly Forecast[] = [
  { name: '100/s', ...machines(1, 1, 2), perSecond: 100 },
  { name: '1,000/s', ...machines(1, 1, 2), perSecond: 1000 },
  { name: '5,000/s', ...machines(2, 2, 8), perSecond: 5000 },
  { name: '5,000/s, half of them creates', ...machines(2, 2, 8), perSecond: 5000, creates: 0.5 },
  { name: '5,000/s, database 10 ms away', ...machines(2, 2, 8), perSecond: 5000, roundTripMs: 10 },
  { name: 'the same with a pool of 40', ...machines(2, 2, 8), perSecond: 5000, roundTripMs: 10, pool: 40 },
  { name: '5,000/s on three machines, one is the primary', ...shared(3), perSecond: 5000 },
  { name: '5,000/s on two of the three', ...shared(2), perSecond: 5000 },
  { name: '5,000/s on three machines of a cluster: one of them', ...member, perSecond: 1667 },
  { name: '5,000/s on two of the three: one of them', ...member, perSecond: 2500 },
  { name: '20,000/s', ...machines(4, 4, 16), perSecond: 20_000 },
  { name: '50,000/s', ...machines(8, 4, 32), perSecond: 50_000 },
];

/** Enough for a p99, also of a few requests a second. */
const REQUESTS = 10_000;
/** A flush of a disk in a data centre, roughly: that of the machine that measures is not an operator's. */
const FLUSH_MS = 1;

/** The forecasts as a table. */
export async function forecastTable(
  forecasts: readonly Forecast[],
  costs: SystemOptions['costs'],
  seed: number,
): Promise<string> {
  const rows: string[][] = [];
  for (const { name, perSecond, creates, ...system } of forecasts) {
    const reads = (1 - creates) / 2;
    const options = { seed, proxyMs: 0, flushMs: FLUSH_MS, costs, load: { perSecond } };
    const seconds = Math.max(1, Math.round(REQUESTS / perSecond));
    const mix = { list: reads, get: reads, create: creates };
    const found = await simulate({ ...system, ...options, mix, seconds });
    console.error(`${name}: ${Math.round(found.perSecond)}/s`);
    rows.push([
      name,
      `${system.gateways} × ${system.workers}`,
      system.databaseCores === 0 ? `shares ${system.gatewayCores}` : String(system.databaseCores),
      found.perSecond.toFixed(0),
      found.p50Ms.toFixed(1),
      found.p99Ms.toFixed(1),
      found.gatewayCores.toFixed(2),
      found.databaseCores.toFixed(2),
      found.statementsPerRequest.toFixed(2),
      found.commitsPerSecond.toFixed(0),
    ]);
  }
  const columns = ['plan', 'gateways × workers', 'database cores', 'answered/s', 'p50 ms', 'p99 ms'];
  const used = ['cores of the gateways', "of the database's machine"];
  return table([...columns, ...used, 'statements each', 'commits/s'], rows);
}
