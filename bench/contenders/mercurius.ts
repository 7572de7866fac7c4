import fastify from 'fastify';
import mercurius from 'mercurius';
import { createBearerCheck } from '../parts/bearer-check.ts';
import { schema } from '../parts/graphql-pets.ts';
import { createKnexStore } from '../parts/knex-store.ts';
import { unauthorized } from '../parts/pet-rules.ts';
import { HOST, settings } from '../parts/settings.ts';

// Fastify's GraphQL with its just-in-time compiler from the first repetition on. The measure of all GraphQL figures.

const pets = createKnexStore();
const isAllowed = createBearerCheck(pets);

const app = fastify();
app.addHook('onRequest', async (request, reply) => {
  if (!(await isAllowed(request.headers.authorization))) return reply.code(401).send(unauthorized().body);
});
app.register(mercurius, { schema, jit: 1, context: () => ({ pets }) });
await app.listen({ port: settings.port, host: HOST });
