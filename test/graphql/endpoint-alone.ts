import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { deadlineIn } from '../../src/deadline.ts';
import { createDocuments, type PrepareDocument } from '../../src/graphql/documents.ts';
import { createGraphqlEndpoint, GRAPHQL_PATH } from '../../src/graphql/endpoint.ts';
import { graphqlErrorBody } from '../../src/graphql/error-masking.ts';
import { createValidator } from '../../src/graphql/validation.ts';
import { createLog } from '../../src/log.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { createPlanner, type PlanOperation } from '../../src/schema/plan.ts';
import { createSchema } from '../../src/schema/schema.ts';
import { readJsonBytes } from '../../src/web/json-body.ts';
import { afterFile } from '../support/engines.ts';
import type { TestGateway } from '../support/gateway.ts';

const BODY_LIMIT_BYTES = 4 * 2 ** 20;

/** Serves the GraphQL endpoint alone, on a gateway's stores, with plans of its own; gives its address. */
export async function serveEndpoint(
  { stores, metrics }: Pick<TestGateway, 'stores' | 'metrics'>,
  choosePlan: (plan: PlanOperation) => PlanOperation = (plan) => plan,
): Promise<string> {
  const log = createLog('silent');
  const app = new Koa();
  app.use((ctx, next) => {
    Object.assign(ctx.state, { requestId: 'none', keyId: 'nobody', mayWrite: true });
    return next();
  });
  app.use(graphqlErrorBody({ log, metrics }));
  const { deprecations, things } = PETSTORE;
  const schema = createSchema(PETSTORE);
  const plan = choosePlan(createPlanner(schema));
  const noteDeprecatedUse = (_keyId: string, operation: string) => metrics.countDeprecatedUse(operation);
  const endpoint = createGraphqlEndpoint({
    schema,
    deprecations,
    things,
    stores,
    log,
    metrics,
    noteDeprecatedUse,
    plan,
  });
  app.use(async (ctx) => {
    if (ctx.method === 'GET') return endpoint.get(ctx, deadlineIn());
    return endpoint.post(ctx, await readJsonBytes(ctx.req, BODY_LIMIT_BYTES), deadlineIn());
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return `http://127.0.0.1:${port}${GRAPHQL_PATH}`;
}

/** Prepares documents for the service's schema, with an empty memory. */
export function prepareAlone(): PrepareDocument {
  const schema = createSchema(PETSTORE);
  return createDocuments({ validate: createValidator({ ...PETSTORE, schema }), plan: createPlanner(schema) });
}
