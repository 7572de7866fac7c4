import { DatabaseSync } from 'node:sqlite';
import Router from '@koa/router';
import Koa from 'koa';

import { createBearerCheck } from '../parts/bearer-check.ts';
import * as rules from '../parts/pet-rules.ts';
import { readBody } from '../parts/read-body.ts';
import { HOST, settings } from '../parts/settings.ts';

// The three routes by hand on Koa and Node's own SQLite, prepared, without log and metrics: the measure of the embedded store.

const database = new DatabaseSync(settings.databaseUrl.slice('sqlite:'.length));
// A create is on the disk before it is answered, as the gateway has it.
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
const prepare = (sql: string) => {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
};
const COLUMNS = 'id, name, category_id, status';
const list = prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`);
const listByStatus = prepare(`SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`);
const get = prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
const add = prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
const findKey = prepare('SELECT id FROM api_keys WHERE hash = ? AND revoked_at IS NULL');

interface Row {
  readonly id: bigint;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: rules.PetStatus | null;
}

const exact = (value: bigint) => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value));
const toPet = (row: Row) =>
  rules.toPet({ id: exact(row.id), name: row.name, category_id: exact(row.category_id), status: row.status });

const isAllowed = createBearerCheck({ hasKey: async (hash: string) => findKey.get(hash) !== undefined });
const router = new Router({ prefix: '/v1' });

router.get('/pets', (ctx) => {
  const query = rules.readPetsQuery(new URLSearchParams(ctx.querystring));
  const { limit, status, after = -(2n ** 63n) } = query;
  const found = status === undefined ? list.all(after, limit + 1) : listByStatus.all(status, after, limit + 1);
  const rows = found as unknown as Row[]; // the columns that were asked for
  const page = rows.slice(0, limit).map(toPet);
  if (rows.length > page.length) {
    const last = rows[page.length - 1];
    ctx.set('Link', `</v1/pets?limit=${limit}${status ? `&status=${status}` : ''}&after=${last?.id}>; rel="next"`);
  }
  ctx.body = page;
});

router.post('/pets', async (ctx) => {
  if (!ctx.is('application/json')) throw new rules.HttpError(415, 'unsupported_media_type', 'Send application/json.');
  const { name, categoryId, status } = rules.readNewPet(rules.parseJson(await readBody(ctx.req)));
  const { lastInsertRowid } = add.run(name, categoryId, status);
  ctx.status = 201;
  ctx.set('Location', `/v1/pets/${lastInsertRowid}`);
  ctx.body = toPet({ id: BigInt(lastInsertRowid), name, category_id: categoryId, status });
});

router.get('/pets/:petId', (ctx) => {
  const id = rules.parseId(ctx.params.petId ?? '');
  const row = id === undefined ? undefined : get.get(id);
  if (row === undefined) throw rules.notFound();
  ctx.body = toPet(row as unknown as Row); // as above
});

const app = new Koa();

app.use(async (ctx, next) => {
  try {
    if (!(await isAllowed(ctx.req.headers.authorization))) throw rules.unauthorized();
    await next();
  } catch (error) {
    if (!(error instanceof rules.HttpError)) throw error;
    ctx.status = error.status;
    ctx.body = error.body;
  }
});

app.use(router.routes());
app.listen(settings.port, HOST);
