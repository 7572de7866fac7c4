import type { OperationFigures } from './scale-operations.ts';
import { median } from './statistics.ts';
import { table } from './tables.ts';

/** The lists of one engine by size of the store. */
export interface GrowthRow {
  readonly engine: string;
  readonly page: string;
  readonly p50Ms: readonly number[];
}

/** What an animal takes on the disk. SQLite does not tell the index apart. */
export interface DiskFigures {
  readonly engine: string;
  readonly animals: number;
  readonly rowBytes: number;
  readonly indexBytes: number;
}

/** All that scale.ts measures. */
export interface ScaleResults {
  readonly madeOn: string;
  readonly rounds: number;
  readonly sizes: readonly number[];
  readonly operations: readonly (OperationFigures & {
    readonly engine: string;
    readonly operation: string;
    readonly connections: number;
  })[];
  /** MiB. */
  readonly memory: {
    readonly warm: number;
    readonly withIdle: number;
    readonly busyPeak: number;
    readonly busyPerSecond: number;
  };
  readonly growth: readonly GrowthRow[];
  readonly disk: readonly DiskFigures[];
}

/** The results as Markdown, which begins with `head`. */
export function toMarkdown(results: ScaleResults, head: string): string {
  const { rounds, memory } = results;
  const foreign = results.operations.map(({ foreignCores }) => foreignCores);
  return [
    '# What a model of many gateways needs',
    head,
    `Medians of ${rounds} rounds with freshly started gateways and, where nothing else is said, 100,000 animals. Other programs took ${median(foreign).toFixed(2)} of a core meanwhile (median; at most ${Math.max(...foreign).toFixed(2)}).`,
    '## Operations',
    'CPU, statements, rows and bytes are for each request. Statements include the checks whether the server takes writes. Rows are those that the engine reads, of its indexes too; bytes go both ways.',
    operationsTable(results),
    '## Commits',
    commitsTable(results),
    '## Memory',
    `A warm gateway has ${memory.warm.toFixed(0)} MiB. With 1,000 idle connections that have asked once it has ${memory.withIdle.toFixed(0)} MiB; its peak with 1,000 that list without a pause (${Math.round(memory.busyPerSecond)} requests/s) is ${memory.busyPeak.toFixed(0)} MiB.`,
    '## Lists by size of the store',
    'p50 in ms over REST on one connection, 20 animals.',
    growthTable(results),
    '## On the disk',
    diskTable(results),
  ]
    .join('\n\n')
    .concat('\n');
}

function operationsTable({ operations }: ScaleResults): string {
  const rows = operations.map((one) => [
    one.engine,
    one.operation,
    String(one.connections),
    one.perSecond.toFixed(0),
    one.p50Ms.toFixed(2),
    one.p99Ms.toFixed(2),
    one.gatewayCpuMs.toFixed(3),
    one.databaseCpuMs.toFixed(3),
    one.statements.toFixed(2),
    one.rowsRead.toFixed(1),
    one.httpBytes.toFixed(0),
    one.databaseBytes.toFixed(0),
  ]);
  const cpu = ['gateway CPU ms', 'database CPU ms'];
  const columns = ['engine', 'operation', 'c', 'requests/s', 'p50 ms', 'p99 ms', ...cpu];
  return table([...columns, 'statements', 'rows', 'HTTP bytes', 'database bytes'], rows);
}

function commitsTable({ operations }: ScaleResults): string {
  const rows = operations
    .filter(({ commitsPerSecond }) => commitsPerSecond > 0)
    .map(({ engine, operation, connections, perSecond, commitsPerSecond }) => {
      const creates = (perSecond / commitsPerSecond).toFixed(1);
      return [engine, operation, String(connections), commitsPerSecond.toFixed(0), creates];
    });
  return table(['engine', 'operation', 'c', 'commits/s', 'creates in each'], rows);
}

function growthTable({ sizes, growth }: ScaleResults): string {
  const rows = growth.map(({ engine, page, p50Ms }) => [engine, page, ...p50Ms.map((ms) => ms.toFixed(2))]);
  return table(['engine', 'page', ...sizes.map((size) => size.toLocaleString('en'))], rows);
}

function diskTable({ disk }: ScaleResults): string {
  const rows = disk.map(({ engine, animals, rowBytes, indexBytes }) => [
    engine,
    animals.toLocaleString('en'),
    rowBytes.toFixed(0),
    indexBytes === 0 ? 'in the row' : indexBytes.toFixed(0),
    (rowBytes + indexBytes).toFixed(0),
  ]);
  return table(['engine', 'animals', 'bytes of a row', 'bytes of its index', 'together'], rows);
}
