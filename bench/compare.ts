/*
 * What a request costs two checkouts: node bench/compare.ts --before DIR --after DIR [--engine sqlite,mariadb] [--rounds N]
 * [--only WORKLOADS] [--warm-up N] [--requests N] [--connections N] (about ten minutes for an engine). For each workload and
 * round a fresh process of both; they are asked in turn, a few requests each, so that what else the machine does meets both.
 * CPU counts, not time.
 */
import { randomUUID } from 'node:crypto';
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pick, readFlags, TEXT, UsageError, wholeNumber } from './call.ts';
import { toWireRequest, type WireRequest } from './check.ts';
import type { Contender } from './contenders.ts';
import { startDatabase } from './database.ts';
import { type Dialect, graphql, rest } from './dialects.ts';
import { CHECK_EVERY, openConnection } from './load.ts';
import { leaveFirstCore, memoryMiB, temporaryFolder, threadsCpuMs } from './processes.ts';
import { type Server, startServer } from './server.ts';
import { seedFile } from './sqlite-file.ts';
import { meanWithoutMost, median } from './statistics.ts';
import { table } from './tables.ts';
import { QUESTIONS_COUNT, WORKLOADS } from './workloads.ts';

/** Creates, each with an Idempotency-Key of its own. */
const KEYED = 'create-keyed';
/** By name: whose questions, and in which words. */
const MEASURED: Readonly<Record<string, readonly [workload: string, dialect: Dialect]>> = {
  'list-20': ['list-20', rest],
  'list-20-same': ['list-20-same', rest],
  get: ['get', rest],
  create: ['create', rest],
  [KEYED]: ['create', rest],
  'graphql-list-20': ['list-20', graphql],
};
/** So many requests to one, then so many to the other. */
const SLICE = 250;

const numbers = { rounds: TEXT, 'warm-up': TEXT, requests: TEXT, connections: TEXT };
const values = readFlags({ before: TEXT, after: TEXT, engine: TEXT, only: TEXT, ...numbers });
if (values.before === undefined || values.after === undefined) {
  throw new UsageError('Say which: --before DIR --after DIR, each a checkout with its packages installed.');
}
const number = (name: keyof typeof numbers, fallback: number) =>
  wholeNumber(`--${name}`, values[name], fallback, 1_000_000);
const engines = pick('--engine', values.engine, ['sqlite', 'mariadb']) ?? ['sqlite'];
const names = pick('--only', values.only, Object.keys(MEASURED)) ?? Object.keys(MEASURED);
const rounds = number('rounds', 8);
const warmUp = number('warm-up', 20_000); // longer than the two seconds after which a start loads the rest
const requestsCount = number('requests', 10_000);
const connections = number('connections', 16);
const sides = [toContender(values.before), toContender(values.after)] as const;

/** What one fresh process showed. */
interface Figures {
  /** Until the first right answer. */
  readonly startMs: number;
  readonly requestMs: number;
  /** When all requests are answered, and the most until then. */
  readonly memoryMiB: number;
  readonly peakMiB: number;
}

/** A store of one side, made by its own migrations. */
interface Store {
  readonly key: string;
  /** A database with the animals as they were. */
  fresh(): Promise<string>;
  /** After a process has ended. */
  tidy(name: string): Promise<void>;
  close(): Promise<void>;
}

leaveFirstCore();
for (const engine of engines) {
  const stores = [await open(engine, values.before), await open(engine, values.after)] as const;
  const pairs = new Map<string, (readonly [before: Figures, after: Figures])[]>();
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const pair = await measurePair(stores, name, round);
      pairs.set(name, [...(pairs.get(name) ?? []), pair]);
      console.error(
        `round ${round + 1} · ${engine} · ${name}: ${pair.map((one) => one.requestMs.toFixed(4)).join(' → ')} ms`,
      );
    }
  }
  for (const store of stores) await store.close();
  console.log(`\n${engine}: medians of ${rounds} rounds\n\n${toTable(pairs)}`);
}
process.exit(0);

function toContender(folder: string): Contender {
  return { name: 'gateway', title: folder, script: join(resolve(folder), 'start.js'), apis: { rest, graphql } };
}

async function open(engine: string, root: string): Promise<Store> {
  return engine === 'mariadb' ? openMariadb(resolve(root)) : openSqlite(resolve(root));
}

function openSqlite(root: string): Store {
  const folder = temporaryFolder();
  const original = join(folder, 'original.sqlite');
  const key = seedFile(original, root);
  let copies = 0;
  const fresh = async () => {
    const copy = join(folder, `copy-${copies++}.sqlite`);
    copyFileSync(original, copy);
    return `sqlite:${copy}`;
  };
  const tidy = async () => {
    for (const file of readdirSync(folder)) if (file.startsWith('copy')) rmSync(join(folder, file));
  };
  return { key, fresh, tidy, close: async () => {} };
}

async function openMariadb(root: string): Promise<Store> {
  const { key, url, restore, close } = await startDatabase(root);
  const tidy = (name: string) => (MEASURED[name]?.[0] === 'create' ? restore() : Promise.resolve());
  return { key, fresh: async () => url, tidy, close };
}

/** A fresh process of each side, asked in turn: what else the machine does, it does to both. */
async function measurePair(
  stores: readonly [Store, Store],
  name: string,
  round: number,
): Promise<readonly [Figures, Figures]> {
  const [wanted, dialect] = MEASURED[name] ?? [];
  const workload = WORKLOADS.find((one) => one.name === wanted);
  if (!workload || !dialect) throw new Error(`There is no workload for ${name}.`);
  const processes: { server: Server; requests: WireRequest[]; startMs: number; slices: number[] }[] = [];
  try {
    // Who is first in one round is not in the next.
    for (const at of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { key, fresh } = stores[at];
      const probe = toWireRequest({ kind: 'get', id: 1 }, dialect, key);
      const server = await startServer(sides[at], await fresh(), probe);
      const requests = Array.from({ length: QUESTIONS_COUNT }, (_, index) =>
        toWireRequest(workload.question(index), dialect, key),
      );
      processes.push({ server, requests, startMs: threadsCpuMs(server.pid), slices: [] });
    }
    const ask = name === KEYED ? withNewKey : ({ bytes }: WireRequest) => bytes;
    for (const { server, requests } of processes) await askAll(server.port, requests, 0, warmUp, ask);
    for (let first = 0; first < requestsCount; first += SLICE) {
      for (const { server, requests, slices } of processes) {
        const beforeMs = threadsCpuMs(server.pid);
        await askAll(server.port, requests, first, SLICE, ask);
        slices.push((threadsCpuMs(server.pid) - beforeMs) / SLICE);
      }
    }
    const [one, other] = processes.map(({ server, startMs, slices }) => ({
      startMs,
      requestMs: meanWithoutMost(slices),
      memoryMiB: memoryMiB(server.pid),
      peakMiB: server.peakMemoryMiB(),
    }));
    if (!one || !other) throw new Error('There are two sides.');
    return round % 2 === 0 ? [one, other] : [other, one];
  } finally {
    for (const { server } of processes) await server.stop();
    for (const store of stores) await store.tidy(name);
  }
}

function withNewKey({ bytes }: WireRequest): Buffer {
  return Buffer.from(bytes.toString().replace('\r\n', `\r\nIdempotency-Key: ${randomUUID()}\r\n`));
}

/** Asks `count` times, from request number `first` on, on all connections together. Throws at the first wrong answer. */
async function askAll(
  port: number,
  requests: readonly WireRequest[],
  first: number,
  count: number,
  toBytes: (request: WireRequest) => Buffer,
): Promise<void> {
  let next = first;
  const client = async () => {
    const connection = await openConnection(port);
    while (next < first + count) {
      const index = next++;
      const request = requests[index % requests.length];
      if (request === undefined) return;
      const response = await connection.ask(toBytes(request));
      const isSampled = index % CHECK_EVERY === 0;
      if (response.status !== request.status || (isSampled && !request.isRight(response.head, response.body())))
        throw new Error(
          `${request.bytes.toString().split('\r\n', 1)} -> ${response.status} ${response.body().slice(0, 300)}`,
        );
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, client));
}

function toTable(pairs: ReadonlyMap<string, readonly (readonly [Figures, Figures])[]>): string {
  const all = [...pairs.values()].flat();
  const rows = [...pairs].flatMap(([name, ofName]) => [
    row(`${name}, CPU µs/request`, ofName, (one) => one.requestMs * 1000),
    row(`${name}, memory MiB`, ofName, (one) => one.memoryMiB),
    row(`${name}, peak MiB`, ofName, (one) => one.peakMiB),
  ]);
  const columns = ['what', 'before', 'after', 'ratio', 'half of the ratios', 'all ratios', 'ratio of the least'];
  return table(columns, [row('start, CPU ms', all, (one) => one.startMs), ...rows]);
}

/** The ratio is that of two processes measured together; other work on the machine only adds, so the least say something, too. */
function row(title: string, pairs: readonly (readonly [Figures, Figures])[], read: (one: Figures) => number): string[] {
  const [before, after] = [pairs.map(([one]) => read(one)), pairs.map(([, one]) => read(one))];
  const ratios = pairs.map(([one, other]) => read(other) / read(one)).toSorted((a, b) => a - b);
  const at = (share: number) => (ratios[Math.round(share * (ratios.length - 1))] ?? Number.NaN).toFixed(3);
  const least = Math.min(...after) / Math.min(...before);
  const middle = [before, after].map((figures) => median(figures).toFixed(1));
  return [
    title,
    ...middle,
    median(ratios).toFixed(3),
    `${at(0.25)}–${at(0.75)}`,
    `${at(0)}–${at(1)}`,
    least.toFixed(3),
  ];
}
