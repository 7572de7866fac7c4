import { createServer } from 'node:http';
import { useSofa } from 'sofa-api';
import { createBearerCheck } from '../parts/bearer-check.ts';
import { schema, unauthenticated } from '../parts/graphql-pets.ts';
import { createKnexStore } from '../parts/knex-store.ts';
import { HOST, settings } from '../parts/settings.ts';

// REST generated from a GraphQL schema: the nearest thing to the gateway's idea. Its JSON has ids as strings.

const pets = createKnexStore();
const isAllowed = createBearerCheck(pets);

const sofa = useSofa({
  basePath: '/v1',
  schema,
  routes: {
    'Query.pet': { path: '/pets/:id' },
    'Mutation.addPet': { path: '/pets', responseStatus: 201 },
  },
  async context({ request }: { request: Request }) {
    if (!(await isAllowed(request.headers.get('authorization') ?? undefined))) throw unauthenticated();
    return { pets };
  },
});

createServer(sofa).listen(settings.port, HOST);
