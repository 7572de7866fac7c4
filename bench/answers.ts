/*
 * Whether two checkouts answer alike: node bench/answers.ts --before DIR --after DIR [--database mysql://USER@HOST:PORT/]
 * (about a minute). Starts the gateway of each as its users would, sends both the same requests one after the other, and
 * compares answers, log lines and meters byte for byte; only what must differ is made equal. Ends with 1 when something differs.
 */
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { Asked } from './asked.ts';
import { askGraphql } from './asked-graphql.ts';
import { askPlaces } from './asked-places.ts';
import { askOperations } from './asked-rest.ts';
import { readFlags, TEXT, UsageError } from './call.ts';
import { gatewayEnvironment } from './environment.ts';
import { type Answer, normalise, send, toBytes, withoutMoments } from './exchange.ts';
import { freePort, runCommand, start, stop, temporaryFolder } from './processes.ts';

/** How many differences of each kind are shown in full. */
const SHOWN_MAX = 5;
/** How long /metrics keeps what it has collected, and /readyz what it has found, with some more. */
const KEPT_MS = 1500;

/** Each is a start of its own, on the data that the one before left. A part of all requests is enough for the later ones. */
const PHASES: readonly { settings: Readonly<Record<string, string>>; every: number }[] = [
  { settings: {}, every: 1 },
  {
    settings: {
      PUBLIC_URL: 'https://shop.example/api',
      CORS_ORIGINS: 'https://a.example',
      TRUSTED_PROXIES: '127.0.0.1',
      BODY_LIMIT: '1024',
      GRAPHIQL: 'false',
      RATE_LIMIT: '1000000/24h',
    },
    every: 3,
  },
  { settings: { RATE_LIMIT: '20/24h', TRUSTED_PROXIES: '127.0.0.1' }, every: 40 },
];

const values = readFlags({ before: TEXT, after: TEXT, database: TEXT });
if (values.before === undefined || values.after === undefined) {
  throw new UsageError('Say which: --before DIR --after DIR, each a checkout with its packages installed.');
}

interface Side {
  readonly checkout: string;
  readonly databaseUrl: string;
  /** What the requests' `<name>` stands for here. */
  readonly words: Map<string, string>;
}

const requests = [...askOperations(), ...askGraphql(), ...askPlaces()];
const unknown = createUnknownKey(resolve(values.before));
const sides = await Promise.all([createSide('before', values.before), createSide('after', values.after)]);
await delay(1100); // the key of one second ends
const differences = new Map<string, number>();
const statuses: string[] = [];
for (const { settings, every } of PHASES) await compare(settings, every);
for (const { databaseUrl } of sides)
  if (values.database !== undefined) await execute(`DROP DATABASE ${databaseUrl.split('/').at(-1)}`);
for (const [kind, count] of differences) console.log(`${String(count).padStart(6)} × ${kind}`);
const total = [...differences.values()].reduce((sum, count) => sum + count, 0);
const byStatus = Object.entries(Object.groupBy(statuses, (status) => status)).map(
  ([status, all]) => `${all?.length} × ${status}`,
);
console.log(`${statuses.length} requests to each (${byStatus.join(', ')}), ${total} differences`);
process.exit(total > 0 ? 1 : 0);

function createUnknownKey(checkout: string): string {
  const url = `sqlite:${join(temporaryFolder(), 'other.sqlite')}`;
  return runCommand('src/cli/keys.ts', ['create', '--name', 'other'], url, checkout);
}

/** A fresh database with keys and 200 animals, made by the commands of the checkout. */
async function createSide(name: string, folder: string): Promise<Side> {
  const checkout = resolve(folder);
  let databaseUrl = `sqlite:${join(temporaryFolder(), 'petstore.sqlite')}`;
  if (values.database !== undefined) {
    const database = `answers_${name}_${process.pid}`;
    databaseUrl = values.database + database;
    await execute(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
  }
  const keys = (...words: string[]) => runCommand('src/cli/keys.ts', words, databaseUrl, checkout);
  const words = new Map(
    Object.entries({
      full: keys('create', '--name', 'full'),
      readonly: keys('create', '--name', 'reader', '--read-only'),
      revoked: keys('create', '--name', 'revoked'),
      expired: keys('create', '--name', 'expired', '--expires', '1s'),
      rotated: keys('create', '--name', 'rotated'),
      unknown,
    }),
  );
  keys('revoke', '3'); // ids count from 1
  words.set('successor', keys('rotate', '5'));
  runCommand('src/cli/seed.ts', ['--pets', '200'], databaseUrl, checkout);
  return { checkout, databaseUrl, words };
}

async function execute(statement: string): Promise<void> {
  const connection = await createConnection(values.database ?? '');
  await connection.query(statement);
  await connection.end();
}

/** Starts both, asks both, stops both. */
async function compare(settings: Readonly<Record<string, string>>, every: number): Promise<void> {
  const gateways = await Promise.all(sides.map((side) => startGateway(side, settings)));
  const ask = async (asked: Asked, id: string) => {
    const [before, after] = await Promise.all(gateways.map((gateway) => gateway.ask(asked, id)));
    if (before === undefined || after === undefined) return;
    statuses.push(before.status.slice(9, 12) || 'none');
    judge(asked, before, after);
  };
  for (const [index, asked] of requests.entries()) {
    if (index % every === 0) await ask(asked, index % 2 === 0 ? `asked-${index}` : '');
  }
  await delay(KEPT_MS);
  await ask({ kind: 'meters', target: '/metrics' }, '');
  const [before, after] = await Promise.all(gateways.map((gateway) => gateway.end()));
  if (before === undefined || after === undefined) return;
  for (const [line, count] of before)
    if (after.get(line) !== count) note('log line', `${count} × ${line}`, `${after.get(line) ?? 0} ×`);
  for (const [line, count] of after) if (!before.has(line)) note('log line', '0 ×', `${count} × ${line}`);
}

async function startGateway({ checkout, databaseUrl, words }: Side, settings: Readonly<Record<string, string>>) {
  const port = await freePort();
  const env = gatewayEnvironment({ ...settings, DATABASE_URL: databaseUrl, PORT: String(port), LOG_LEVEL: 'info' });
  const child = start([process.execPath, join(checkout, 'src/main.ts')], {
    cwd: temporaryFolder(),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  while (!output.includes('listening on')) {
    if (child.exitCode !== null) throw new Error(`${checkout} did not start: ${output}`);
    await delay(20);
  }
  const receive = (asked: Asked, id: string) =>
    send(port, toBytes(asked, words, id), { method: asked.method ?? 'GET', toEnd: asked.raw !== undefined });
  const assets = new Set<string>();
  for (const target of ['/', '/docs', '/graphql']) {
    const page = await receive({ kind: 'page', target, headers: { Accept: 'text/html' } }, '');
    for (const [path] of page.toString().matchAll(/assets\/\w+\/[\w.-]+/g)) assets.add(path);
  }
  for (const [index, path] of [...assets].entries()) words.set(`asset${index}`, path);
  return {
    async ask(asked: Asked, id: string): Promise<Answer> {
      const received = await receive(asked, id);
      words.set('etag', /\r\netag: (.*)\r/i.exec(received.toString('latin1', 0, 4096))?.[1] ?? words.get('etag') ?? '');
      return normalise(received, asked, words);
    },
    /** How often each line was written to the log, without what differs between two runs. */
    async end(): Promise<Map<string, number>> {
      await stop(child);
      const text = output
        .replaceAll(databaseUrl, '<database>')
        .replaceAll(`:${port}`, ':<port>')
        .replaceAll(checkout, '');
      const lines = text.split('\n').map(withoutMoments);
      return new Map(
        Object.entries(Object.groupBy(lines, (line) => line)).map(([line, all]) => [line, all?.length ?? 0]),
      );
    },
  };
}

function judge(asked: Asked, before: Answer, after: Answer): void {
  const { kind, method = 'GET', target, raw } = asked;
  const what = (raw ?? `${method} ${target} ${JSON.stringify(asked.headers ?? {})} ${asked.body ?? ''}`).slice(0, 300);
  const tell = (part: string, one: string, other: string) => note(`${kind}: ${part}`, one, other, what);
  if (before.status !== after.status) tell('status', before.status, after.status);
  const [fields, others] = [before.fields.join('\n'), after.fields.join('\n')];
  const sorted = (answer: Answer) => answer.fields.toSorted().join('\n');
  if (fields !== others) tell(sorted(before) === sorted(after) ? 'order of the header' : 'header', fields, others);
  if (before.body !== after.body) tell('body', before.body, after.body);
}

function note(kind: string, before: string, after: string, what = ''): void {
  const shown = differences.get(kind) ?? 0;
  differences.set(kind, shown + 1);
  if (shown >= SHOWN_MAX) return;
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const part = (text: string) => JSON.stringify(text.slice(Math.max(0, same - 60), same + 200));
  console.log(`${kind}\n  ${JSON.stringify(what)}\n  - ${part(before)}\n  + ${part(after)}\n`);
}
