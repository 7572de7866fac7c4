import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import type { WireRequest } from './check.ts';
import { CONTENDERS } from './contenders.ts';
import { runLoad } from './load.ts';
import { runCommand, temporaryFolder } from './processes.ts';
import { type Server, startServer } from './server.ts';
import { median } from './statistics.ts';

const LIMIT = 20;

/** `npm run seed` gives every fifth animal this status. */
const STATUS = 'sold';
const STATUS_EVERY = 5;

/** A kind of page of a list. */
export interface Page {
  readonly title: string;
  readonly isLast: boolean;
  /** The query string, for a store of so many animals. */
  query(animals: number): string;
}

export const PAGES: readonly Page[] = [
  { title: 'all, first page', isLast: false, query: () => `limit=${LIMIT}` },
  { title: 'all, last page', isLast: true, query: (animals) => `limit=${LIMIT}&after=${animals - LIMIT}` },
  { title: 'filtered, first page', isLast: false, query: () => `limit=${LIMIT}&status=${STATUS}` },
  {
    title: 'filtered, last page',
    isLast: true,
    query: (animals) => `limit=${LIMIT}&status=${STATUS}&after=${animals - LIMIT * STATUS_EVERY}`,
  },
];

/** A gateway on a store of so many animals. */
export interface Store {
  readonly engine: string;
  readonly animals: number;
  readonly url: string;
  readonly key: string;
  readonly server: Server;
}

/** An empty database beside the one of `url`. */
export async function createMysqlDatabase(url: string, name: string): Promise<string> {
  const connection = await createConnection(url);
  await connection.query(`DROP DATABASE IF EXISTS ${name}`);
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  await connection.end();
  return url.replace(/\w+$/, name);
}

/** The address of a new file. */
export function createSqliteFile(): string {
  return `sqlite:${join(temporaryFolder(), 'pets.sqlite')}`;
}

/** Fills an empty database, and starts a gateway on it. */
export async function openStore(engine: string, animals: number, url: string): Promise<Store> {
  console.error(`${engine}: ${animals} animals …`);
  runCommand('src/cli/migrate.ts', [], url);
  const key = runCommand('src/cli/keys.ts', ['create', '--name', 'growth'], url);
  runCommand('src/cli/seed.ts', ['--pets', String(animals)], url);
  const [[gateway], [page]] = [CONTENDERS, PAGES];
  if (!gateway || !page) throw new Error('The gateway is the first contender, and there is a page to ask it for.');
  return { engine, animals, url, key, server: await startServer(gateway, url, toRequest(page, animals, key)) };
}

function toRequest({ query, isLast }: Page, animals: number, key: string): WireRequest {
  const head = `GET /v1/pets?${query(animals)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  return {
    bytes: Buffer.from(head),
    status: 200,
    isRight: (answered, body) => JSON.parse(body).length === LIMIT && /\r\nlink:/i.test(answered) === !isLast,
  };
}

/** p50 in ms of a page on one connection, by page and store: medians of `rounds` alternating rounds of `seconds`. */
export async function measureStores(
  stores: readonly Store[],
  rounds: number,
  seconds: number,
): Promise<(store: Pick<Store, 'engine' | 'animals'>, page: Page) => number> {
  const latencies = new Map<string, number[]>();
  const nameOf = ({ engine, animals }: Pick<Store, 'engine' | 'animals'>, { title }: Page) =>
    `${engine} ${title} ${animals}`;
  for (let round = 0; round <= rounds; round++) {
    for (const page of PAGES) {
      for (const store of stores) {
        const result = await runLoad(store.server.port, [toRequest(page, store.animals, store.key)], 1, seconds);
        const name = nameOf(store, page);
        if (result.wrong > 0) throw new Error(`${name}: ${result.firstWrong}`);
        // The first round warms up.
        if (round > 0) latencies.set(name, [...(latencies.get(name) ?? []), median([...result.latencies])]);
      }
    }
  }
  return (store, page) => median(latencies.get(nameOf(store, page)) ?? []);
}
