import Koa from 'koa';
import { deadlineIn } from '../../src/gateway/deadline.ts';
import { createGraphqlRoutes, GRAPHQL_PATH } from '../../src/gateway/graphql/endpoint.ts';
import { graphqlErrorBody } from '../../src/gateway/graphql/error-masking.ts';
import { createLog } from '../../src/gateway/log.ts';
import type { Context } from '../../src/gateway/schema/context.ts';
import { readJsonBytes } from '../../src/gateway/web/json-body.ts';
import type { Answer, PlanRequest } from '../../src/lib/graphql-plan/graphql-plan.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import type { TestGateway } from '../support/gateway.ts';
import { serveApp } from '../support/served-app.ts';
import { schema } from './schema-alone.ts';

const BODY_LIMIT_BYTES = 4 * 2 ** 20;

/** Serves the GraphQL endpoint alone, on a gateway's stores, with an execution of its own; gives its address. `X-Changes` says what the endpoint notes. */
export async function serveEndpoint(
  { stores, metrics }: Pick<TestGateway, 'stores' | 'metrics'>,
  runPlan?: (request: PlanRequest<Context>) => Promise<Answer>,
): Promise<string> {
  const log = createLog('silent', { write() {} });
  const app = new Koa();
  app.use((ctx, next) => {
    Object.assign(ctx.state, { requestId: 'none', keyId: 'nobody', ownerId: 'nobody', mayWrite: true });
    return next();
  });
  app.use(graphqlErrorBody({ log, metrics }));
  const noteDeprecatedUse = (_keyId: string, operation: string) => metrics.countDeprecatedUse(operation);
  const parts = { service: PETSTORE, schema, stores, log, metrics, noteDeprecatedUse, ...(runPlan && { runPlan }) };
  const [route] = createGraphqlRoutes(parts).routes;
  app.use(async (ctx) => {
    const body = ctx.method === 'GET' ? Buffer.alloc(0) : await readJsonBytes(ctx.req, BODY_LIMIT_BYTES);
    await route?.handle(ctx, { params: {}, body, deadline: deadlineIn(), reserve: () => undefined });
    if (ctx.state.changes) ctx.set('X-Changes', 'true');
  });
  return (await serveApp(app)) + GRAPHQL_PATH;
}
