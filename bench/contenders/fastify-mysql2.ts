import { createFastifyApp } from '../parts/fastify-app.ts';
import { createPreparedStore } from '../parts/prepared-store.ts';
import { HOST, settings } from '../parts/settings.ts';

await createFastifyApp(createPreparedStore()).listen({ port: settings.port, host: HOST });
