import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { deadlineIn } from '../../src/deadline.ts';
import { createDocuments } from '../../src/graphql/documents.ts';
import { createGraphqlEndpoint, GRAPHQL_PATH } from '../../src/graphql/endpoint.ts';
import { graphqlErrorBody } from '../../src/graphql/error-masking.ts';
import { createLog } from '../../src/log.ts';
import type { planOperation } from '../../src/schema/plan.ts';
import { afterFile } from '../support/engines.ts';
import type { TestGateway } from '../support/gateway.ts';

/** Serves the GraphQL endpoint alone, on a gateway's stores, with plans of its own; gives its address. */
export async function serveEndpoint(
  { stores, metrics }: Pick<TestGateway, 'stores' | 'metrics'>,
  plan?: typeof planOperation,
): Promise<string> {
  const log = createLog('silent');
  const app = new Koa();
  app.use((ctx, next) => {
    Object.assign(ctx.state, { requestId: 'none', keyId: 'nobody', mayWrite: true });
    return next();
  });
  app.use(graphqlErrorBody({ log, metrics }));
  const endpoint = createGraphqlEndpoint({
    stores,
    log,
    metrics,
    bodyLimitBytes: 4 * 2 ** 20,
    noteDeprecatedUse: (_keyId, operation) => metrics.countDeprecatedUse(operation),
    atWork: (_ctx, work) => work(deadlineIn()),
    prepareDocument: createDocuments(plan),
  });
  app.use(endpoint);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return `http://127.0.0.1:${port}${GRAPHQL_PATH}`;
}
