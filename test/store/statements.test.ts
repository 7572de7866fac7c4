import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type mysql from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { createRecords } from '../../src/gateway/idempotency/idempotency-records.ts';
import { succeed } from '../cli/command.ts';
import { startAppServer } from '../support/app-server.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { served } from '../support/load.ts';
import { normalise } from '../support/normal-statement.ts';
import { type Dialect, startStatementProxy } from '../support/statement-proxy.ts';
import { has, serverPath } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';

interface Product extends Dialect {
  readonly name: string;
  /** Arguments of MariaDB, by which it tells the version text of the product. */
  readonly args: readonly string[];
}

const RETURNING = { pattern: / RETURNING /, errno: 1064, message: 'You have an error in your SQL syntax' };

/** What the products refuse, as docs/statements.md tells. */
const PRODUCTS: readonly Product[] = [
  { name: 'MariaDB', args: [], refuses: [], ignores: [] },
  { name: 'TiDB', args: ['--version=8.0.11-TiDB-v8.5.1'], refuses: [RETURNING], ignores: [] },
  {
    name: 'Vitess',
    args: ['--version=8.0.30-Vitess'],
    refuses: [
      RETURNING,
      { pattern: /_LOCK\((?!'\w+')/, errno: 1235, message: 'VT12001: unsupported: a name that is computed' },
    ],
    ignores: ['collation_connection', 'completion_type'],
  },
];

const page = readFileSync(join(ROOT, 'docs/statements.md'), 'utf8');
const judged = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, statement = '']) => statement);

const isMariaDb = has('database') && /mariadbd$/.test(serverPath() ?? '');

describe.runIf(isMariaDb)('the statements of the gateway', () => {
  const sent = new Set<string>();

  test.each(PRODUCTS)('$name: everything works without what it refuses', async ({ args, ...dialect }) => {
    const { server, root } = await startAppServer(args);
    const { url, statements } = await startStatementProxy(server.url.replace(/mysql$/, 'petstore'), dialect);
    await sendAll(url, root, statements);
    if (args.length === 0) await runCommands(url);
    const texts = [...statements];
    for (const { pattern } of dialect.refuses) expect(texts.filter((sql) => pattern.test(sql))).toEqual([]);
    for (const sql of texts) sent.add(normalise(sql));
    const settings = texts.filter((sql) => sql.startsWith('SET ')).flatMap((sql) => [...sql.matchAll(/(\w+) = /g)]);
    expect(settings.map(([, name]) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test('have all been judged, and no other ones', () => {
    expect([...sent].sort()).toEqual(judged.toSorted());
  });
});

/** Has the gateway send each of its statements: those of a start, of requests, and of its own clean-up. */
async function sendAll(url: string, admin: mysql.Connection, sent: ReadonlySet<string>): Promise<void> {
  const gateway = await startGateway(SQLITE, { DATABASE_URL: url });
  const names = Array.from({ length: 40 }, (_, index) => `animal-${index}`);
  const create = (name: string, key?: string) =>
    served(() =>
      gateway.createPet({ name, categoryId: 1, status: 'sold' }, key === undefined ? {} : { 'idempotency-key': key }),
    );
  const get = (path: string) => served(() => gateway.request(path));
  const createAll = async (keyed: boolean) => {
    const answers = await Promise.all(names.map((name) => create(name, keyed ? name : undefined)));
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    return answers.map(({ json }) => json);
  };
  const [first] = [await create('first', 'first')].map(({ json }) => json);
  const created = [first, ...(await createAll(false)), ...(await createAll(true))];
  expect(await createAll(true)).toEqual(created.slice(-names.length));
  const found = await Promise.all(created.map(({ id }) => get(`/v1/pets/${id}`)));
  expect(found.map(({ json }) => json)).toEqual(created);
  for (const filter of ['', '&status=sold']) {
    const pages = created.map(({ id }) => get(`/v1/pets?limit=1${filter}&after=${id - 1}`));
    expect((await Promise.all(pages)).map(({ json }) => json[0])).toEqual(created);
    expect((await get(`/v1/pets?limit=1${filter}`)).json[0].id).toBeDefined();
  }
  // Before a write, on a connection whose last answer is older.
  const isAsked = () => [...sent].some((sql) => sql.startsWith('SELECT 1, @@global.'));
  while (!isAsked()) await create('again');
  await admin.query('UPDATE petstore.idempotency_keys SET created_at = 1'); // they are to expire
  expect((await create('first', 'first')).json.id).toBeGreaterThan(first.id);
  const records = createRecords(gateway.database);
  await records.areLocked([{ id: '', inputHash: '', renews: false }], performance.now() + 5000);
  await records.sweep();
  await gateway.keys.countExpiring();
  await gateway.close(); // it writes what it has counted
}

/** Has the commands send theirs. */
async function runCommands(url: string): Promise<void> {
  const env = { DATABASE_URL: url };
  const [id = ''] = (await succeed('keys', ['list'], env)).flatMap((line) => /^(\d+) /.exec(line)?.[1] ?? []);
  await succeed('keys', ['rotate', id], env);
  await succeed('keys', ['revoke', id], env);
  await succeed('seed', ['--pets', '3'], env);
  await succeed('deprecation-report', ['report'], env);
  await succeed('doctor', ['--json'], env);
  await succeed('migrate', ['--rollback'], env);
}
