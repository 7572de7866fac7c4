import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { createBearerCheck } from './bearer-check.ts';
import * as rules from './pet-rules.ts';
import type { PetStore } from './pet-store.ts';

// Schemas for what comes in and goes out: fast-json-stringify is what Fastify is fast with.
const pet = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const listSchema = {
  querystring: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      status: { enum: rules.PET_STATUSES },
      after: { type: 'string' },
    },
  },
  response: { 200: { type: 'array', items: pet } },
};

interface Routes {
  list: { Querystring: { limit: number; status?: rules.PetStatus; after?: string } };
  get: { Params: { petId: string } };
}

/** The three routes on Fastify, over either store. */
export function createFastifyApp(pets: PetStore): FastifyInstance {
  const app = fastify();
  const isAllowed = createBearerCheck(pets);
  app.addHook('onRequest', async (request) => {
    if (!(await isAllowed(request.headers.authorization))) throw rules.unauthorized();
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const { statusCode = 500, message } = error;
    const refusal = error instanceof rules.HttpError ? error : new rules.HttpError(statusCode, 'bad_request', message);
    return reply.code(refusal.status).send(refusal.body);
  });
  app.addContentTypeParser('application/json', { parseAs: 'string' }, parseBody);

  app.get<Routes['list']>('/v1/pets', { schema: listSchema }, async ({ query: { limit, status, after } }, reply) => {
    const id = after === undefined ? undefined : rules.parseId(after);
    if (after !== undefined && id === undefined) throw rules.badRequest('after must be an id.');
    const query = { limit, status, after: id };
    const rows = await pets.listPets(query);
    const page = rows.slice(0, limit);
    if (rows.length > page.length) reply.header('link', rules.nextPageLink(query, page.at(-1)));
    return page.map(toPet);
  });

  app.post('/v1/pets', { schema: { response: { 201: pet } } }, async ({ body }, reply) => {
    const row = await pets.addPet(rules.readNewPet(body));
    return reply.code(201).header('location', `/v1/pets/${row.id}`).send(toPet(row));
  });

  app.get<Routes['get']>('/v1/pets/:petId', { schema: { response: { 200: pet } } }, async ({ params }) => {
    const id = rules.parseId(params.petId);
    const row = id === undefined ? undefined : await pets.getPet(id);
    if (row === undefined) throw rules.notFound();
    return toPet(row);
  });
  return app;
}

async function parseBody(_request: FastifyRequest, text: string): Promise<unknown> {
  return rules.parseJson(text);
}

/** As `rules.toPet`, with bigints: fast-json-stringify writes those exactly, and knows no JSON.rawJSON. */
function toPet({ id, name, category_id, status }: rules.PetRow) {
  return { id: exactNumber(id), name, categoryId: exactNumber(category_id), status: status ?? undefined };
}

function exactNumber(integer: number | string): number | bigint {
  return typeof integer === 'number' ? integer : BigInt(integer);
}
