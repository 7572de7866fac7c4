import type { RowDataPacket } from 'mysql2/promise';
import { toWireRequest, type WireRequest } from './check.ts';
import { CONTENDERS } from './contenders.ts';
import type { BenchDatabase } from './database.ts';
import { type Dialect, graphql, rest } from './dialects.ts';
import { openConnection, runLoad, settle } from './load.ts';
import { cpuMs, machineCpuMs } from './processes.ts';
import { startServer } from './server.ts';
import { QUESTIONS_COUNT, WORKLOADS } from './workloads.ts';

export const CONCURRENCIES = [1, 8, 32, 128] as const;
const WARM_UP_SECONDS = 3;
const SIZE_SAMPLES = 20;

/** What a client asks for. */
export interface Operation {
  readonly name: string;
  readonly workload: string;
  readonly dialect: Dialect;
  readonly isKeyed?: true;
}

export const OPERATIONS: readonly Operation[] = [
  { name: 'list 20', workload: 'list-20', dialect: rest },
  { name: 'same page', workload: 'list-20-same', dialect: rest },
  { name: 'get', workload: 'get', dialect: rest },
  { name: 'create', workload: 'create', dialect: rest },
  { name: 'keyed create', workload: 'create', dialect: rest, isKeyed: true },
  { name: 'GraphQL list', workload: 'list-20', dialect: graphql },
];

/** One window of one operation. All but the first four, and `foreignCores`, are for each request. */
export interface OperationFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly commitsPerSecond: number;
  readonly gatewayCpuMs: number;
  readonly databaseCpuMs: number;
  readonly clientCpuMs: number;
  /** Cores that other programs took meanwhile. */
  readonly foreignCores: number;
  readonly statements: number;
  readonly rowsRead: number;
  /** Of HTTP, both ways together. */
  readonly httpBytes: number;
  /** Of the database's protocol, both ways together. */
  readonly databaseBytes: number;
}

let keys = 0;

/** The requests of an operation. A keyed create has another Idempotency-Key each time it is sent. */
export function requestsOf({ workload, dialect, isKeyed }: Operation, key: string): WireRequest[] {
  const found = WORKLOADS.find(({ name }) => name === workload);
  if (!found) throw new Error(`There is no workload ${workload}.`);
  const requests = Array.from({ length: QUESTIONS_COUNT }, (_, index) =>
    toWireRequest(found.question(index), dialect, key),
  );
  if (!isKeyed) return requests;
  return requests.map((request) => {
    const [line = '', ...others] = request.bytes.toString().split('\r\n');
    const rest = others.join('\r\n');
    return {
      ...request,
      get bytes() {
        return Buffer.from(`${line}\r\nIdempotency-Key: scale-${process.pid}-${keys++}\r\n${rest}`);
      },
    };
  });
}

/** Measures an operation on a fresh gateway, at each number of connections. */
export async function measureOperation(
  operation: Operation,
  database: BenchDatabase,
  seconds: number,
): Promise<Map<number, OperationFigures>> {
  const [gateway] = CONTENDERS;
  if (!gateway) throw new Error('The gateway is the first contender.');
  const requests = requestsOf(operation, database.key);
  const probe = toWireRequest({ kind: 'get', id: 1 }, rest, database.key);
  const server = await startServer(gateway, database.url, probe);
  try {
    await runLoad(server.port, requests, 32, WARM_UP_SECONDS);
    const httpBytes = await sizeOf(server.port, requests);
    const figures = new Map<number, OperationFigures>();
    // As in measure.ts.
    for (const concurrency of CONCURRENCIES.toReversed()) {
      await settle(server.port, requests, concurrency);
      const read = async () => ({
        ...(await readStatus(database)),
        gateway: server.cpuMs(),
        database: cpuMs(database.pid),
        client: clientMs(),
        machine: machineCpuMs(),
      });
      const before = await read();
      const load = await runLoad(server.port, requests, concurrency, seconds);
      const after = await read();
      if (load.wrong > 0) throw new Error(`${operation.name}: ${load.firstWrong}`);
      const each = (name: StatusName) => (after.status(name) - before.status(name)) / load.answered;
      const percentile = (share: number) => load.latencies[Math.floor(load.latencies.length * share)] ?? Number.NaN;
      const commits = each('Com_commit') > 0 ? each('Com_commit') : each('Com_insert');
      figures.set(concurrency, {
        perSecond: load.count / load.seconds,
        p50Ms: percentile(0.5),
        p99Ms: percentile(0.99),
        commitsPerSecond: (commits * load.count) / load.seconds,
        gatewayCpuMs: (after.gateway - before.gateway) / load.answered,
        databaseCpuMs: (after.database - before.database) / load.answered,
        clientCpuMs: (after.client - before.client) / load.answered,
        foreignCores: (foreignMs(after) - foreignMs(before)) / (load.elapsedSeconds * 1000),
        statements: each('Questions'),
        rowsRead: each('Rows_read') + each('Innodb_rows_read'),
        httpBytes,
        databaseBytes: each('Bytes_received') + each('Bytes_sent'),
      });
    }
    return figures;
  } finally {
    await server.stop();
  }
}

const STATUS_NAMES = [
  'Questions',
  'Com_commit',
  'Com_insert',
  'Rows_read', // MariaDB
  'Innodb_rows_read', // MySQL; of MariaDB it stays 0
  'Bytes_received',
  'Bytes_sent',
] as const;
type StatusName = (typeof STATUS_NAMES)[number];

async function readStatus({ connection }: BenchDatabase) {
  const sql = `SHOW GLOBAL STATUS WHERE Variable_name IN ('${STATUS_NAMES.join("', '")}')`;
  const [rows] = await connection.query<(RowDataPacket & { Variable_name: string; Value: string })[]>(sql);
  const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Number(Value)]));
  return { status: (name: StatusName) => values.get(name) ?? 0 };
}

function clientMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function foreignMs(all: { machine: number; gateway: number; database: number; client: number }): number {
  return all.machine - all.gateway - all.database - all.client;
}

/** The mean bytes of a request and its answer. */
async function sizeOf(port: number, requests: readonly WireRequest[]): Promise<number> {
  const connection = await openConnection(port);
  let bytes = 0;
  for (const request of requests.slice(0, SIZE_SAMPLES)) {
    const sent = request.bytes;
    const { head, body } = await connection.ask(sent);
    bytes += sent.length + head.length + 4 + Buffer.byteLength(body());
  }
  connection.close();
  return bytes / SIZE_SAMPLES;
}
