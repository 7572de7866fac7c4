/*
 * What a list costs as the store grows: node bench/growth.ts (about four minutes) writes GROWTH.md. One gateway for each
 * size and engine, all at once; each kind of page is asked of one after the other, round by round, on one connection.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import type { WireRequest } from './check.ts';
import { CONTENDERS } from './contenders.ts';
import { startDatabase } from './database.ts';
import { runLoad } from './load.ts';
import { dateAndCommit, leaveFirstCore, runCommand, temporaryFolder } from './processes.ts';
import { type Server, startServer } from './server.ts';
import { median } from './statistics.ts';

const SIZES = [1000, 10_000, 100_000, 1_000_000] as const;
const ROUNDS = 5;
const SECONDS = 1;
const LIMIT = 20;

/** `npm run seed` gives every fifth animal this status. */
const STATUS = 'sold';
const STATUS_EVERY = 5;

interface Page {
  readonly title: string;
  readonly isLast: boolean;
  /** The query string, for a store of so many animals. */
  query(animals: number): string;
}

const PAGES: readonly Page[] = [
  { title: 'all, first page', isLast: false, query: () => `limit=${LIMIT}` },
  { title: 'all, last page', isLast: true, query: (animals) => `limit=${LIMIT}&after=${animals - LIMIT}` },
  { title: 'filtered, first page', isLast: false, query: () => `limit=${LIMIT}&status=${STATUS}` },
  {
    title: 'filtered, last page',
    isLast: true,
    query: (animals) => `limit=${LIMIT}&status=${STATUS}&after=${animals - LIMIT * STATUS_EVERY}`,
  },
];

interface Store {
  readonly engine: string;
  readonly animals: number;
  readonly key: string;
  readonly server: Server;
}

leaveFirstCore();
const database = await startDatabase();
const stores: Store[] = [];
for (const animals of SIZES) {
  stores.push(await openStore('MariaDB', animals, await createMysqlDatabase(`growth_${animals}`)));
  stores.push(await openStore('SQLite', animals, `sqlite:${join(temporaryFolder(), 'pets.sqlite')}`));
}
const latencies = new Map<string, number[]>();
for (let round = 0; round <= ROUNDS; round++) {
  for (const page of PAGES) for (const store of stores) await measure(store, page, round > 0); // the first one warms up
}
const report = toMarkdown();
process.stdout.write(report);
writeFileSync(join(import.meta.dirname, 'GROWTH.md'), report);
process.exit(0);

async function createMysqlDatabase(name: string): Promise<string> {
  const connection = await createConnection(database.url);
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  await connection.end();
  return database.url.replace(/\w+$/, name);
}

async function openStore(engine: string, animals: number, url: string): Promise<Store> {
  console.error(`${engine}: ${animals} animals …`);
  runCommand('src/cli/migrate.ts', [], url);
  const key = runCommand('src/cli/keys.ts', ['create', '--name', 'growth'], url);
  runCommand('src/cli/seed.ts', ['--pets', String(animals)], url);
  const [[gateway], [page]] = [CONTENDERS, PAGES];
  if (!gateway || !page) throw new Error('The gateway is the first contender, and there is a page to ask it for.');
  return { engine, animals, key, server: await startServer(gateway, url, toRequest(page, animals, key)) };
}

function toRequest({ query, isLast }: Page, animals: number, key: string): WireRequest {
  const head = `GET /v1/pets?${query(animals)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  return {
    bytes: Buffer.from(head),
    status: 200,
    isRight: (answered, body) => JSON.parse(body).length === LIMIT && /\r\nlink:/i.test(answered) === !isLast,
  };
}

async function measure({ engine, animals, key, server }: Store, page: Page, counts: boolean): Promise<void> {
  const result = await runLoad(server.port, [toRequest(page, animals, key)], 1, SECONDS);
  if (result.wrong > 0) throw new Error(`${engine}, ${animals}, ${page.title}: ${result.firstWrong}`);
  const name = `${engine} ${page.title} ${animals}`;
  if (counts) latencies.set(name, [...(latencies.get(name) ?? []), median([...result.latencies])]);
}

function toMarkdown(): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = ['MariaDB', 'SQLite'].flatMap((engine) =>
    PAGES.map(({ title }) => {
      const figures = SIZES.map((animals) => median(latencies.get(`${engine} ${title} ${animals}`) ?? []));
      const growth = (figures.at(-1) ?? Number.NaN) / (figures[0] ?? Number.NaN);
      return line([engine, title, ...figures.map((ms) => ms.toFixed(2)), growth.toFixed(2)]);
    }),
  );
  const head = ['engine', `list ${LIMIT}`, ...SIZES.map((animals) => animals.toLocaleString('en')), 'last : first'];
  return [
    '# What a list costs as the store grows',
    `Made by \`node bench/growth.ts\` on ${dateAndCommit()}: p50 in ms over REST, on one connection, by number of animals; medians of ${ROUNDS} alternating rounds.`,
    [line(head), line(head.map(() => '---')), ...rows].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}
