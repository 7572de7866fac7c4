/*
 * What a model of many gateways needs: node bench/scale.ts [--rounds N] [--seconds N] [--animals N] [--url URL] writes SCALE.md
 * and scale.json, which simulate.ts reads. URL is mysql://root@127.0.0.1:PORT/, another server on this machine to be measured
 * beside MariaDB; its databases petstore_bench and scale_… are dropped. --animals 10000000 adds a size to the stores.
 */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { readFlags, readLength, TEXT, wholeNumber } from './call.ts';
import { type BenchDatabase, startDatabase, useServer } from './database.ts';
import { leaveFirstCore } from './processes.ts';
import { dateAndCommit, madeBy, writeReport } from './report-file.ts';
import { measureMemory } from './scale-memory.ts';
import { CONCURRENCIES, measureOperation, OPERATIONS, type OperationFigures } from './scale-operations.ts';
import { type DiskFigures, type GrowthRow, type ScaleResults, toMarkdown } from './scale-report.ts';
import { median } from './statistics.ts';
import { createMysqlDatabase, createSqliteFile, measureStores, openStore, PAGES, type Store } from './stores.ts';

const SIZES = [1000, 10_000, 100_000, 1_000_000];
const STORE_ROUNDS = 3;
const STORE_SECONDS = 1;
const MOST_ANIMALS = 100_000_000;

const flags = readFlags({ rounds: TEXT, seconds: TEXT, animals: TEXT, url: TEXT });
const { rounds, seconds, isLong } = readLength(flags, { seconds: 2 });
const animals = wholeNumber('--animals', flags.animals, 1_000_000, MOST_ANIMALS);
const sizes = [...SIZES.filter((size) => size < animals), animals];

leaveFirstCore();
const servers: { engine: string; database: BenchDatabase }[] = [
  { engine: 'MariaDB', database: await startDatabase() },
  ...(flags.url === undefined ? [] : [{ engine: 'MySQL', database: await useServer(flags.url) }]),
];
const [first] = servers;
if (first === undefined) throw new Error('MariaDB is always measured.');
const operations = await measureOperations();
const memory = await measureMemory(first.database);
const { growth, disk } = await measureGrowth();
const versions = servers.map(({ database }) => database.version).join(', ');
const madeOn = `${dateAndCommit()}; ${versions}`;
const results: ScaleResults = { madeOn, rounds, sizes, operations, memory, growth, disk };
for (const { database } of servers) await database.close();
const head = madeBy(`${versions}, SQLite ${process.versions.sqlite}, 10 connections to the database each`);
const isWhole = isLong && SIZES.every((size) => sizes.includes(size));
writeReport('SCALE.md', toMarkdown(results, head), isWhole);
if (isWhole) writeFileSync(join(import.meta.dirname, 'scale.json'), `${JSON.stringify(results, undefined, 2)}\n`);
process.exit(0);

/** The medians of the rounds, by engine, operation and connections. */
async function measureOperations(): Promise<ScaleResults['operations']> {
  const found = new Map<string, OperationFigures[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const operation of OPERATIONS) {
      for (const { engine, database } of servers) {
        const figures = await measureOperation(operation, database, seconds);
        console.error(
          `round ${round} · ${engine} · ${operation.name}: ${[...figures].map(([connections, { perSecond }]) => `${Math.round(perSecond)}/s at ${connections}`).join(', ')}`,
        );
        for (const [connections, one] of figures) {
          const name = `${engine} ${operation.name} ${connections}`;
          found.set(name, [...(found.get(name) ?? []), one]);
        }
        // A table that grows would make every later operation another one.
        if (operation.workload === 'create') await database.restore();
      }
    }
  }
  return servers.flatMap(({ engine }) =>
    OPERATIONS.flatMap(({ name: operation }) =>
      CONCURRENCIES.map((connections) => ({
        ...{ engine, operation, connections },
        ...medians(found.get(`${engine} ${operation} ${connections}`) ?? []),
      })),
    ),
  );
}

function medians(rounds: readonly OperationFigures[]): OperationFigures {
  const [some] = rounds;
  if (some === undefined) throw new Error('There is at least one round.');
  const names = Object.keys(some) as (keyof OperationFigures)[]; // they are written in one literal
  const entries = names.map((name) => [name, Number(median(rounds.map((one) => one[name])).toFixed(4))]);
  return Object.fromEntries(entries) as unknown as OperationFigures; // of the same names
}

async function measureGrowth(): Promise<{ growth: GrowthRow[]; disk: DiskFigures[] }> {
  const stores: Store[] = [];
  for (const animals of sizes) {
    for (const { engine, database } of servers) {
      stores.push(await openStore(engine, animals, await createMysqlDatabase(database.url, `scale_${animals}`)));
    }
    stores.push(await openStore('SQLite', animals, createSqliteFile()));
  }
  const p50Of = await measureStores(stores, STORE_ROUNDS, STORE_SECONDS);
  const engines = [...servers.map(({ engine }) => engine), 'SQLite'];
  const growth = engines.flatMap((engine) =>
    PAGES.map((page) => ({
      engine,
      page: page.title,
      p50Ms: sizes.map((animals) => p50Of({ engine, animals }, page)),
    })),
  );
  const disk: DiskFigures[] = [];
  for (const { engine, animals, url } of stores.filter((store) => store.animals === sizes.at(-1))) {
    const { data, index } = url.startsWith('sqlite:') ? sizeOfFile(url) : await sizeOfTable(url);
    disk.push({ engine, animals, rowBytes: data / animals, indexBytes: index / animals });
  }
  for (const { server } of stores) await server.stop();
  for (const animals of sizes) {
    for (const { database } of servers) await database.connection.query(`DROP DATABASE scale_${animals}`);
  }
  return { growth, disk };
}

/** Of a file, rows and index together. */
function sizeOfFile(url: string): { data: number; index: number } {
  return { data: statSync(url.slice('sqlite:'.length)).size, index: 0 };
}

async function sizeOfTable(url: string): Promise<{ data: number; index: number }> {
  const connection = await createConnection(url);
  await connection.query('ANALYZE TABLE pets');
  const sql = `SELECT data_length AS data, index_length AS \`index\` FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = 'pets'`;
  const [[row]] = await connection.query<(RowDataPacket & { data: number; index: number })[]>(sql);
  await connection.end();
  return { data: Number(row?.data), index: Number(row?.index) };
}
