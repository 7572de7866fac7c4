import { createServer } from 'node:http';
import { toApiError } from '../../src/gateway/errors.ts';
import { createGraphqlRoutes, GRAPHQL_PATH } from '../../src/gateway/graphql/endpoint.ts';
import { createErrorWriter } from '../../src/gateway/graphql/error-masking.ts';
import { errorAnswer, sendAnswer } from '../../src/gateway/http/answer.ts';
import type { Route } from '../../src/gateway/http/call.ts';
import { readJsonBytes } from '../../src/gateway/http/json-body.ts';
import { createLog } from '../../src/gateway/log.ts';
import type { Context } from '../../src/gateway/schema/context.ts';
import type { PlanRequest, Result } from '../../src/lib/graphql-plan/graphql-plan.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { admittedCall } from '../support/calls.ts';
import type { TestGateway } from '../support/gateway.ts';
import { serveListener } from '../support/served-app.ts';
import { schema } from './schema-alone.ts';

const BODY_LIMIT_BYTES = 4 * 2 ** 20;

/** The first route of the GraphQL endpoint alone, on a gateway's stores. */
export function endpointRoute(
  { stores, metrics }: Pick<TestGateway, 'stores' | 'metrics'>,
  runPlan?: (request: PlanRequest<Context>) => Promise<Result>,
): Route | undefined {
  const log = createLog('silent', { write() {} });
  const noteDeprecatedUse = (_keyId: string, operation: string) => metrics.countDeprecatedUse(operation);
  const parts = { service: PETSTORE, schema, stores, log, metrics, noteDeprecatedUse, ...(runPlan && { runPlan }) };
  return createGraphqlRoutes(parts).routes[0];
}

/** Serves the GraphQL endpoint alone, on a gateway's stores, with an execution of its own; gives its address. `X-Changes` says what the answer tells of. */
export async function serveEndpoint(
  gateway: Pick<TestGateway, 'stores' | 'metrics'>,
  runPlan?: (request: PlanRequest<Context>) => Promise<Result>,
): Promise<string> {
  const route = endpointRoute(gateway, runPlan);
  const writeError = createErrorWriter(gateway.metrics);
  const server = createServer(async (request, response) => {
    const { method = '', headers, url = '' } = request;
    try {
      const body = method === 'GET' ? Buffer.alloc(0) : await readJsonBytes(request, BODY_LIMIT_BYTES);
      const querystring = url.split('?')[1] ?? '';
      const answer = await route?.handle(admittedCall({ method, path: GRAPHQL_PATH, querystring, headers, body }));
      if (answer?.tellsChange) response.setHeader('X-Changes', 'true');
      if (answer) sendAnswer(response, answer);
    } catch (thrown) {
      const error = toApiError(thrown);
      sendAnswer(response, errorAnswer(error, writeError, headers));
    }
  });
  return (await serveListener(server)) + GRAPHQL_PATH;
}
