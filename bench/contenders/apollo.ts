import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { createBearerCheck } from '../parts/bearer-check.ts';
import { schema, unauthenticated } from '../parts/graphql-pets.ts';
import { createKnexStore } from '../parts/knex-store.ts';
import { HOST, settings } from '../parts/settings.ts';

const pets = createKnexStore();
const isAllowed = createBearerCheck(pets);

await startStandaloneServer(new ApolloServer({ schema }), {
  listen: { port: settings.port, host: HOST },
  async context({ req }) {
    if (!(await isAllowed(req.headers.authorization))) throw unauthenticated();
    return { pets };
  },
});
