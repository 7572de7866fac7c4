import { createServer } from 'node:http';
import { createYoga } from 'graphql-yoga';
import { createBearerCheck } from '../parts/bearer-check.ts';
import { schema, unauthenticated } from '../parts/graphql-pets.ts';
import { createKnexStore } from '../parts/knex-store.ts';
import { HOST, settings } from '../parts/settings.ts';

const pets = createKnexStore();
const isAllowed = createBearerCheck(pets);

const yoga = createYoga({
  schema,
  async context({ request }) {
    if (!(await isAllowed(request.headers.get('authorization') ?? undefined))) throw unauthenticated();
    return { pets };
  },
});

createServer(yoga).listen(settings.port, HOST);
