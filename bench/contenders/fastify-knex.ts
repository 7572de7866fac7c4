import { createFastifyApp } from '../parts/fastify-app.ts';
import { createKnexStore } from '../parts/knex-store.ts';
import { HOST, settings } from '../parts/settings.ts';

await createFastifyApp(createKnexStore()).listen({ port: settings.port, host: HOST });
