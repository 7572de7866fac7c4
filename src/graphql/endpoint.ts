import { GraphQLError, OperationTypeNode } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import type { Context as KoaContext, Middleware } from 'koa';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import { type Context, createContext } from '../schema/context.ts';
import type { Admission } from '../web/admission.ts';
import { acceptedMediaType } from '../web/negotiation.ts';
import { createDocuments, type PrepareDocument, type PreparedDocument, type PreparedOperation } from './documents.ts';
import type { ErrorWatch } from './error-masking.ts';
import { executeOperation } from './execution.ts';
import { type Answer, createPlannedExecution } from './planned-execution.ts';
import { asRunnable, type RequestParameters, readParameters } from './request-parameters.ts';
import { listNames } from './short-message.ts';

/** Where GraphQL is served. */
export const GRAPHQL_PATH = '/graphql';

/** What the endpoint is given: the service below it, and who hears of its work. */
export interface GraphqlSettings extends ErrorWatch {
  readonly stores: Context['stores'];
  readonly bodyLimitBytes: number;
  readonly atWork: Admission['atWork'];
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  /** By default a memory of its own. */
  readonly prepareDocument?: PrepareDocument;
}

/** The GraphQL API: GraphQL over HTTP on one path, for requests that have passed the key check. */
export function createGraphqlEndpoint(settings: GraphqlSettings): Middleware {
  const { stores, bodyLimitBytes, atWork, metrics, noteDeprecatedUse, prepareDocument = createDocuments() } = settings;
  const executePlan = createPlannedExecution();

  const observe = ({ state }: KoaContext, { operation, deprecated }: PreparedOperation) => {
    state.operation = operation.operation;
    metrics.countGraphqlOperation(operation.operation);
    for (const coordinate of deprecated) noteDeprecatedUse(state.keyId, coordinate);
  };

  const answerRequest = (ctx: KoaContext, request: RequestParameters, context: Context): Answer | Promise<Answer> => {
    const document = prepareDocument(request.query);
    const prepared = chooseOperation(document, request.operationName);
    if (prepared instanceof GraphQLError) return { errors: [prepared] };
    if (prepared?.operation.operation === OperationTypeNode.MUTATION && ctx.method === 'GET') {
      throw new ApiError('method_not_allowed', 'A mutation must be sent by POST.', { headers: { Allow: 'POST' } });
    }
    if (!prepared || document.errors.length > 0) return { errors: document.errors };
    const onRun = () => observe(ctx, prepared);
    return executeOperation({ prepared, variables: request.variables, context, onRun }, executePlan);
  };

  const loadYoga = lazily(async () => (await import('./yoga.ts')).createGatewayYoga(GRAPHQL_PATH, settings));

  /** Yoga says what becomes of errors. It would make each start slower, so it is loaded with the first of them. */
  const writeErrors = async (ctx: KoaContext, params: GraphQLParams, answer: Answer | undefined) => {
    const yoga = await loadYoga();
    const response = await yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, { koa: ctx, params, answer });
    ctx.status = response.status;
    ctx.set(Object.fromEntries(response.headers));
    ctx.body = await response.text();
  };

  const answerParameters = async (ctx: KoaContext, mediaType: string, params: GraphQLParams, deadline: Deadline) => {
    const context = createContext(stores, ctx.state, ctx.req.headers, deadline);
    const request = asRunnable(params);
    const answer = request && (await answerRequest(ctx, request, context));
    if (context.reply.replayed) ctx.set('Idempotency-Replayed', 'true');
    if (!answer || answer.errors.length > 0) return writeErrors(ctx, params, answer);
    ctx.set('Content-Type', mediaType);
    ctx.body = `{"data":${answer.dataJson}}`;
  };

  return async (ctx) => {
    const mediaType = acceptedMediaType(ctx);
    // Yoga ignores the weights of RFC 9110 §12.5.1, and would answer as an event stream too.
    ctx.req.headers.accept = mediaType;
    const params = await readParameters(ctx, bodyLimitBytes, GRAPHQL_PATH);
    return atWork(ctx, (deadline) => answerParameters(ctx, mediaType, params, deadline));
  };
}

function lazily<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => (loading ??= load());
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
