import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { toWireRequest } from './check.ts';
import { CONTENDERS } from './contenders.ts';
import { type BenchDatabase, startDatabase } from './database.ts';
import { rest } from './dialects.ts';
import { runLoad } from './load.ts';
import { cpuMs, groupCpuMs, machineCpuMs, threadsCpuMs } from './processes.ts';
import { OPERATIONS, requestsOf } from './scale-operations.ts';
import { startServer } from './server.ts';
import type { StatementKind } from './simulation/database.ts';
import { median } from './statistics.ts';

/** What was measured, and the circumstances for the simulation. Times are in ms. */
export interface Checked {
  readonly workers: number;
  /** As a reader knows it. */
  readonly roundTrip: string;
  readonly kind: StatementKind;
  readonly clients: number;
  readonly perSecond: number;
  readonly p99Ms: number;
  /** CPU for each request. */
  readonly gatewayCpuMs: number;
  readonly databaseCpuMs: number;
  /** Cores that other programs took. */
  readonly foreignCores: number;
  /** What the network adds to a round trip, beside its CPU. */
  readonly addedMs: number;
  /** CPU of the network, for each packet. */
  readonly proxyMs: number;
}

const WORKERS = [1, 2];
const ROUND_TRIPS_MS = [0, 2, 10];
const KINDS = { 'list 20': 'list', get: 'get', create: 'create' } as const;
const CLIENTS = 32;
const WARM_UP_SECONDS = 3;
const PINGS = 300;

/** Measures gateways of one and two workers, at several round trips, on all cores of the machine: the quietest of the rounds. */
export async function measureGrid(rounds: number, seconds: number): Promise<Checked[]> {
  const database = await startDatabase();
  const found = new Map<string, Checked[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const roundTripMs of ROUND_TRIPS_MS) {
      const network = await startNetwork(database, roundTripMs);
      for (const workers of WORKERS) {
        for (const [operation, kind] of Object.entries(KINDS)) {
          const one = await measure({ database, network, workers, operation, kind, seconds });
          const name = `${workers} ${roundTripMs} ${kind}`;
          console.error(`round ${round} · ${name}: ${Math.round(one.perSecond)}/s, p99 ${one.p99Ms.toFixed(1)} ms`);
          found.set(name, [...(found.get(name) ?? []), { ...one, roundTrip: String(roundTripMs) }]);
        }
      }
      network.end();
      await database.restore();
    }
  }
  await database.close();
  return [...found.values()].map(quietest);
}

/** The round in which other programs took the least: what they take can be simulated only roughly. */
function quietest(rounds: readonly Checked[]): Checked {
  const [found] = rounds.toSorted((a, b) => a.foreignCores - b.foreignCores);
  if (!found) throw new Error('There is at least one round.');
  return found;
}

interface Network {
  readonly url: string;
  readonly pid: number | undefined;
  readonly addedMs: number;
  readonly proxyMs: number;
  end(): void;
}

/** The way to the database: none at 0 ms, else network.ts, which is measured alone first. */
async function startNetwork(database: BenchDatabase, roundTripMs: number): Promise<Network> {
  if (roundTripMs === 0) return { url: database.url, pid: undefined, addedMs: 0, proxyMs: 0, end() {} };
  const target = /:(\d+)\//.exec(database.url)?.[1] ?? '';
  const words = [join(import.meta.dirname, 'network.ts'), target, String(roundTripMs / 2), '0', '0'];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  const [port] = await once(child.stdout, 'data');
  const url = database.url.replace(`:${target}/`, `:${String(port).trim()}/`);
  const pid = child.pid ?? 0;
  const direct = await ping(database.url);
  const before = threadsCpuMs(pid);
  const far = await ping(url);
  const proxyMs = (threadsCpuMs(pid) - before) / (2 * PINGS);
  return { url, pid, addedMs: Math.max(0, far - direct - 2 * proxyMs), proxyMs, end: () => child.kill() };
}

/** The median of a round trip, in ms. */
async function ping(url: string): Promise<number> {
  const connection = await createConnection(url);
  const times: number[] = [];
  for (let index = 0; index < PINGS; index++) {
    const sentAt = performance.now();
    await connection.query('SELECT 1');
    times.push(performance.now() - sentAt);
  }
  await connection.end();
  return median(times);
}

async function measure(what: {
  readonly database: BenchDatabase;
  readonly network: Network;
  readonly workers: number;
  readonly operation: string;
  readonly kind: StatementKind;
  readonly seconds: number;
}): Promise<Omit<Checked, 'roundTrip'>> {
  const { database, network, workers, kind, seconds } = what;
  const operation = OPERATIONS.find(({ name }) => name === what.operation);
  const [gateway] = CONTENDERS;
  if (!operation || !gateway) throw new Error(`There is no ${what.operation}.`);
  const probe = toWireRequest({ kind: 'get', id: 1 }, rest, database.key);
  const server = await startServer(gateway, network.url, probe, { WORKERS: String(workers) });
  try {
    const requests = requestsOf(operation, database.key);
    await runLoad(server.port, requests, CLIENTS, WARM_UP_SECONDS);
    const foreignMs = () => {
      const { user, system } = process.cpuUsage();
      const proxy = network.pid === undefined ? 0 : cpuMs(network.pid);
      return machineCpuMs() - groupCpuMs(server.pid) - cpuMs(database.pid) - proxy - (user + system) / 1000;
    };
    const read = () => [foreignMs(), groupCpuMs(server.pid), cpuMs(database.pid)];
    const before = read();
    const load = await runLoad(server.port, requests, CLIENTS, seconds);
    const [foreign = 0, gatewayMs = 0, databaseMs = 0] = read().map((now, index) => now - (before[index] ?? 0));
    const foreignCores = Math.max(0, foreign / (load.elapsedSeconds * 1000));
    if (load.wrong > 0) throw new Error(`${what.operation}: ${load.firstWrong}`);
    const p99Ms = load.latencies[Math.floor(load.latencies.length * 0.99)] ?? Number.NaN;
    const { addedMs, proxyMs } = network;
    const cpu = { gatewayCpuMs: gatewayMs / load.answered, databaseCpuMs: databaseMs / load.answered };
    const circumstances = { workers, kind, clients: CLIENTS, foreignCores, addedMs, proxyMs };
    return { ...circumstances, ...cpu, perSecond: load.count / seconds, p99Ms };
  } finally {
    await server.stop();
  }
}
