import { toWireRequest } from './check.ts';
import { type ApiName, CONTENDERS, type Contender } from './contenders.ts';
import type { BenchDatabase } from './database.ts';
import type { Dialect } from './dialects.ts';
import { runLoad, settle } from './load.ts';
import type { Options } from './options.ts';
import { cpuMs, machineCpuMs } from './processes.ts';
import { type Server, startServer } from './server.ts';
import { QUESTIONS_COUNT, WORKLOADS, type Workload } from './workloads.ts';

/** The part of the options that decides what is measured, and how long. */
export type MeasureOptions = Pick<
  Options,
  'rounds' | 'seconds' | 'warmUpSeconds' | 'workloads' | 'contenders' | 'apis' | 'concurrencies'
>;

/** What one window of load on one fresh process showed. */
export interface Measurement {
  readonly round: number;
  readonly contender: string;
  readonly api: ApiName;
  readonly workload: string;
  readonly concurrency: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the server's process for each request. */
  readonly cpuMs: number;
  /** How much of its core the server used: below about 0.9, something else was the narrow place. */
  readonly busy: number;
  /** The most memory since the process began. */
  readonly peakMiB: number;
  /** Cores that programs took which have nothing to do with the benchmark. */
  readonly foreignCores: number;
  /** Answers that were not right. */
  readonly wrong: number;
}

const WARM_UP_CONCURRENCY = 32;

/** All measurements, in rounds: in each, every one of `contenders` that the options name is started anew, one right after the other. */
export async function measureAll(
  options: MeasureOptions,
  database: BenchDatabase,
  note: (line: string) => void,
  contenders: readonly Contender[] = CONTENDERS,
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const { workload, api, contender, dialect } of plan(options, contenders, round)) {
      const label = `round ${round}/${options.rounds} · ${workload.name} · ${api} · ${contender.name}`;
      const context = { round, workload, api, contender, dialect };
      const done = await measureProcess(context, options, database, (wrong) => note(`${label}: WRONG ${wrong}`));
      measurements.push(...done);
      // A table that grows would make every process's work another one.
      if (workload.name === 'create') await database.restore();
      note(`${label}: ${done.map((one) => `${Math.round(one.requestsPerSecond)}/s at ${one.concurrency}`).join(', ')}`);
    }
  }
  return measurements;
}

interface Step {
  readonly workload: Workload;
  readonly api: ApiName;
  readonly contender: Contender;
  readonly dialect: Dialect;
}

function plan(options: MeasureOptions, all: readonly Contender[], round: number): Step[] {
  const workloads = WORKLOADS.filter((workload) => options.workloads.includes(workload.name));
  const chosen = all.filter((contender) => options.contenders.includes(contender.name));
  // Whoever is first in one round is not in the next: the machine's mood shall favour nobody.
  const contenders = chosen
    .map((_, index) => chosen[(index + round - 1) % chosen.length])
    .filter((one) => one !== undefined);
  return workloads.flatMap((workload) =>
    options.apis.flatMap((api) =>
      contenders.flatMap((contender) => {
        const dialect = contender.apis[api];
        return dialect === undefined ? [] : [{ workload, api, contender, dialect }];
      }),
    ),
  );
}

async function measureProcess(
  { round, workload, api, contender, dialect }: Step & { round: number },
  options: MeasureOptions,
  database: BenchDatabase,
  noteWrong: (answer: string) => void,
): Promise<Measurement[]> {
  const requests = Array.from({ length: QUESTIONS_COUNT }, (_, index) =>
    toWireRequest(workload.question(index), dialect, database.key),
  );
  const probe = toWireRequest({ kind: 'get', id: 1 }, dialect, database.key);
  const server = await startServer(contender, database.url, probe);
  try {
    await runLoad(server.port, requests, WARM_UP_CONCURRENCY, options.warmUpSeconds);
    const measurements: Measurement[] = [];
    // Many callers first: when the one caller's turn comes, the process has lived longest.
    for (const concurrency of options.concurrencies.toSorted((a, b) => b - a)) {
      await settle(server.port, requests, concurrency);
      const cpuBefore = readCpu(server, database);
      const load = await runLoad(server.port, requests, concurrency, options.seconds);
      const cpuAfter = readCpu(server, database);
      const cpu = cpuAfter.server - cpuBefore.server;
      if (load.firstWrong !== undefined) noteWrong(load.firstWrong);
      measurements.push({
        ...{ round, contender: contender.name, api, workload: workload.name, concurrency },
        requestsPerSecond: load.count / load.seconds,
        p50Ms: percentile(load.latencies, 0.5),
        p99Ms: percentile(load.latencies, 0.99),
        cpuMs: cpu / load.answered,
        busy: cpu / (load.elapsedSeconds * 1000),
        peakMiB: server.peakMemoryMiB(),
        foreignCores: (cpuAfter.foreign - cpuBefore.foreign) / (load.elapsedSeconds * 1000),
        wrong: load.wrong,
      });
    }
    return measurements;
  } finally {
    await server.stop();
  }
}

/** CPU time used so far, in ms: by the server, and by programs that are not of the benchmark. */
function readCpu(server: Server, database: BenchDatabase): { server: number; foreign: number } {
  const { user, system } = process.cpuUsage();
  const ours = server.cpuMs() + cpuMs(database.pid) + (user + system) / 1000;
  return { server: server.cpuMs(), foreign: machineCpuMs() - ours };
}

function percentile(ascending: Float64Array, share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}
