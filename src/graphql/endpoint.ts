import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import type { Context as KoaContext } from 'koa';
import type { Deprecation } from '../deprecations.ts';
import { ApiError } from '../errors.ts';
import { makeOnce } from '../make-once.ts';
import { type Context, createContext } from '../schema/context.ts';
import { createPlanner, type PlanOperation } from '../schema/plan.ts';
import type { Stores } from '../store/store.ts';
import { acceptedMediaType } from '../web/negotiation.ts';
import type { AdmittedRequest, Route } from '../web/route.ts';
import { createDocuments, type PreparedDocument, type PreparedOperation } from './documents.ts';
import type { ErrorWatch } from './error-masking.ts';
import { createExecution } from './execution.ts';
import type { Answer } from './planned-execution.ts';
import { asRunnable, parametersInAddress, parametersInBody, type RequestParameters } from './request-parameters.ts';
import { listNames } from './short-message.ts';
import { createValidator } from './validation.ts';

/** Where GraphQL is served. */
export const GRAPHQL_PATH = '/graphql';

/** What the endpoint is given: the service below it, and who hears of its work. */
export interface GraphqlSettings extends ErrorWatch {
  readonly schema: GraphQLSchema;
  readonly deprecations: readonly Deprecation[];
  /** What answers are made of, in messages: `books`. */
  readonly things: string;
  readonly stores: Stores;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  /** By default the planner of the schema. */
  readonly plan?: PlanOperation;
}

/**
 * The endpoint of a schema: GraphQL over HTTP on one path, by GET and POST, for requests that have been let in, within their
 * share. It throws ApiError for what is no GraphQL answer.
 */
export function createGraphqlEndpoint(settings: GraphqlSettings): Route['handle'] {
  const { schema, stores, metrics, noteDeprecatedUse, plan = createPlanner(schema) } = settings;
  const prepareDocument = createDocuments({ validate: createValidator(schema, settings.deprecations), plan });
  const execute = createExecution(schema, settings.things);

  const observe = ({ state }: KoaContext, { operation, isMutation, deprecated }: PreparedOperation) => {
    state.operation = operation.operation;
    if (isMutation) state.changes = true;
    metrics.countGraphqlOperation(operation.operation);
    for (const coordinate of deprecated) noteDeprecatedUse(state.keyId, coordinate);
  };

  const answerRequest = (
    ctx: KoaContext,
    request: RequestParameters,
    context: Context,
    reserve: AdmittedRequest['reserve'],
  ) => {
    const document = prepareDocument(request.query);
    const prepared = chooseOperation(document, request.operationName);
    if (prepared instanceof GraphQLError) return { errors: [prepared] };
    if (prepared?.isMutation && ctx.method !== 'POST') {
      throw new ApiError('method_not_allowed', 'A mutation must be sent by POST.', { headers: { Allow: 'POST' } });
    }
    if (!prepared || document.errors.length > 0) return { errors: document.errors };
    return execute({ prepared, variables: request.variables, context, reserve, onRun: () => observe(ctx, prepared) });
  };

  const loadYoga = makeOnce(async () => (await import('./yoga.ts')).createGatewayYoga(schema, GRAPHQL_PATH, settings));

  /** Yoga says what becomes of errors. It would make each start slower, so it is loaded with the first of them. */
  const writeErrors = async (ctx: KoaContext, params: GraphQLParams, answer: Answer | undefined) => {
    const yoga = await loadYoga();
    // It makes a URL of the Host, and not every host is part of one: 999.999.999.999, or a%20b.
    ctx.req.headers.host = 'localhost';
    const response = await yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, { koa: ctx, params, answer });
    ctx.status = response.status;
    ctx.set(Object.fromEntries(response.headers));
    ctx.body = await response.text();
  };

  return async (ctx, { body, deadline, reserve }) => {
    const mediaType = acceptedMediaType(ctx);
    // Yoga ignores the weights of RFC 9110 §12.5.1, and would answer as an event stream too.
    ctx.req.headers.accept = mediaType;
    const params = ctx.method === 'POST' ? parametersInBody(body) : parametersInAddress(ctx.querystring);
    const context = createContext(stores, ctx.state, ctx.req.headers, deadline);
    const request = asRunnable(params);
    const answer: Answer | undefined = request && (await answerRequest(ctx, request, context, reserve));
    if (context.reply.replayed) ctx.set('Idempotency-Replayed', 'true');
    if (!answer || answer.errors.length > 0) return writeErrors(ctx, params, answer);
    ctx.set('Content-Type', mediaType);
    ctx.body = `{"data":${answer.dataJson}}`;
  };
}

/**
 * GraphQL §6.1 GetOperation: the operation that is asked for, or why it cannot be determined; undefined when the text is no
 * document.
 */
function chooseOperation(
  { errors, operations }: PreparedDocument,
  name: string | undefined,
): PreparedOperation | GraphQLError | undefined {
  const [first, another] = operations;
  if (name === undefined && !another && first) return first;
  const named = operations.find(({ operation }) => name !== undefined && operation.name?.value === name);
  if (named) return named;
  if (!first) {
    const isDocument = errors.every(({ extensions }) => extensions.code === 'GRAPHQL_VALIDATION_FAILED');
    return isDocument ? new GraphQLError('The document has no operation.') : undefined;
  }
  const names = listNames(operations.map(({ operation }) => operation.name?.value ?? 'one without a name'));
  return new GraphQLError(
    name === undefined
      ? `The document has ${operations.length} operations (${names}): name one in operationName.`
      : `The document has no operation ${listNames([JSON.stringify(name)])}; it has ${names}.`,
  );
}
