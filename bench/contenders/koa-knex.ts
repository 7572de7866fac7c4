import Router from '@koa/router';
import Koa from 'koa';

import { createBearerCheck } from '../parts/bearer-check.ts';
import { createKnexStore } from '../parts/knex-store.ts';
import * as rules from '../parts/pet-rules.ts';
import { readBody } from '../parts/read-body.ts';
import { HOST, settings } from '../parts/settings.ts';

// The three routes written by hand: what somebody would do without the gateway. The measure of all REST figures.

const pets = createKnexStore();
const isAllowed = createBearerCheck(pets);
const router = new Router({ prefix: '/v1' });

router.get('/pets', async (ctx) => {
  const query = rules.readPetsQuery(new URLSearchParams(ctx.querystring));
  const rows = await pets.listPets(query);
  const page = rows.slice(0, query.limit);
  if (rows.length > page.length) ctx.set('Link', rules.nextPageLink(query, page.at(-1)));
  ctx.body = page.map(rules.toPet);
});

router.post('/pets', async (ctx) => {
  if (!ctx.is('application/json')) throw new rules.HttpError(415, 'unsupported_media_type', 'Send application/json.');
  const row = await pets.addPet(rules.readNewPet(rules.parseJson(await readBody(ctx.req))));
  ctx.status = 201;
  ctx.set('Location', `/v1/pets/${row.id}`);
  ctx.body = rules.toPet(row);
});

router.get('/pets/:petId', async (ctx) => {
  const id = rules.parseId(ctx.params.petId ?? '');
  const row = id === undefined ? undefined : await pets.getPet(id);
  if (row === undefined) throw rules.notFound();
  ctx.body = rules.toPet(row);
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
process.on('SIGTERM', () => process.exit()); // only a process that ends by itself writes Node's compile cache
