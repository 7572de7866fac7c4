import { GraphQLError, type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { Context as KoaContext } from 'koa';
import { type Answer, createPlanner, type PlanRequest } from '../../lib/graphql-plan/graphql-plan.ts';
import { ApiError } from '../errors.ts';
import { makeOnce } from '../make-once.ts';
import { GRAPHQL_FORMAT } from '../schema/answer-format.ts';
import { type Context, createContext } from '../schema/context.ts';
import type { Service } from '../service.ts';
import type { Stores } from '../store/store.ts';
import { acceptedMediaType } from '../web/negotiation.ts';
import type { AdmittedRequest, Route } from '../web/route.ts';
import { createDocuments, createValidator, type PreparedDocument, type PreparedOperation } from './documents.ts';
import { listNames, type Telemetry } from './error-masking.ts';
import { createExecution } from './execution.ts';
import { parametersFromBody, parametersFromQuery } from './request-parameters.ts';

/** The path of the GraphQL API. */
export const GRAPHQL_PATH = '/graphql';

interface GraphqlParts extends Telemetry {
  readonly service: Pick<Service, 'deprecations' | 'plural'>;
  readonly schema: GraphQLSchema;
  readonly stores: Stores;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  /** Runs a plan; by default planned execution. */
  readonly runPlan?: (request: PlanRequest<Context>) => Promise<Answer>;
}

/**
 * Creates the routes of GraphQL over HTTP, for GET and POST. `operations` are the names that log and metrics use for them. The
 * handler throws ApiError for a request without a document, and for a mutation by GET. `preload` loads what it needs later.
 */
export function createGraphqlRoutes(parts: GraphqlParts) {
  const { handle, preload } = createHandler(parts);
  const common = { path: GRAPHQL_PATH, changes: false, isDeprecated: false, handle };
  const routes: readonly Route[] = [
    { ...common, methods: ['GET'], takesBody: false },
    { ...common, methods: ['POST'], takesBody: true },
  ];
  const operations: readonly string[] = Object.values(OperationTypeNode);
  return { routes, operations, preload };
}

function createHandler({ service, schema, stores, noteDeprecatedUse, runPlan, ...telemetry }: GraphqlParts) {
  const validate = createValidator(schema, service.deprecations);
  const prepareDocument = createDocuments({ validate, plan: createPlanner(schema, GRAPHQL_FORMAT) });
  const execute = createExecution(schema, service.plural, runPlan);
  // Yoga writes answers with errors. It is not imported at the start, because the import would slow every start.
  const loadYoga = makeOnce(async () => (await import('./yoga.ts')).createGatewayYoga(schema, GRAPHQL_PATH, telemetry));

  const observe = ({ state }: KoaContext, { operation, isMutation, deprecated }: PreparedOperation) => {
    state.operation = operation.operation;
    if (isMutation) state.changes = true;
    telemetry.metrics.countGraphqlOperation(operation.operation);
    for (const coordinate of deprecated) noteDeprecatedUse(state.keyId, coordinate);
  };

  const writeErrors = async (ctx: KoaContext, answer: Answer) => {
    const yoga = await loadYoga();
    // Yoga parses the Host as part of a URL, which fails for valid hosts such as 999.999.999.999.
    ctx.req.headers.host = 'localhost';
    // Yoga ignores the weights of RFC 9110 §12.5.1, and could choose an event stream.
    ctx.req.headers.accept = acceptedMediaType(ctx);
    const response = await yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, { koa: ctx, answer });
    ctx.status = response.status;
    ctx.set(Object.fromEntries(response.headers));
    const errors = await response.text();
    const { dataJson } = answer;
    ctx.body = dataJson === undefined ? errors : wrapData(`${errors.slice(0, -1)},"data":`, dataJson);
  };

  const handle = async (ctx: KoaContext, { body, deadline, reserve }: AdmittedRequest): Promise<void> => {
    const request = ctx.method === 'POST' ? parametersFromBody(body) : parametersFromQuery(ctx.querystring);
    const document = prepareDocument(request.query);
    const prepared = chooseOperation(document, request.operationName);
    if ('errors' in prepared) return writeErrors(ctx, prepared);
    if (prepared.isMutation && ctx.method !== 'POST') {
      throw new ApiError('method_not_allowed', 'A mutation must be sent by POST.', { headers: { Allow: 'POST' } });
    }
    if (document.errors.length > 0) return writeErrors(ctx, document);
    const context = createContext(stores, ctx.state, ctx.req.headers, deadline);
    const onRun = () => observe(ctx, prepared);
    const answer = await execute({ prepared, variables: request.variables, context, reserve, onRun });
    if (context.isReplayed) ctx.set('Idempotency-Replayed', 'true');
    if (answer.errors.length > 0) return writeErrors(ctx, answer);
    if (ctx.headerSent) return; // the server has refused the request meanwhile
    ctx.res.setHeader('Content-Type', acceptedMediaType(ctx));
    ctx.body = wrapData('{"data":', answer.dataJson ?? 'null');
  };
  return { handle, preload: loadYoga };
}

/** From this length on, in characters, an answer is made as bytes. */
const BYTES_LENGTH = 16_384;

/** The body, with the data as its last member. Long data is written into one buffer: a longer string would copy it twice. */
function wrapData(start: string, dataJson: string): string | Buffer {
  if (dataJson.length < BYTES_LENGTH) return `${start}${dataJson}}`;
  const startBytes = Buffer.byteLength(start);
  const bytes = Buffer.allocUnsafe(startBytes + Buffer.byteLength(dataJson) + 1);
  bytes.write(start);
  bytes.write(dataJson, startBytes);
  bytes.write('}', bytes.length - 1);
  return bytes;
}

/** GraphQL §6.1 GetOperation: the operation to run, or an answer with errors if there is none. */
function chooseOperation(
  { errors, operations }: PreparedDocument,
  name: string | undefined,
): PreparedOperation | Answer {
  const [first, another] = operations;
  if (name === undefined && !another && first) return first;
  const named = operations.find(({ operation }) => name !== undefined && operation.name?.value === name);
  if (named) return named;
  if (!first) {
    const isParsed = errors.every(({ extensions }) => extensions.code === 'GRAPHQL_VALIDATION_FAILED');
    return { errors: isParsed ? [new GraphQLError('The document has no operation.')] : errors };
  }
  const names = listNames(operations.map(({ operation }) => operation.name?.value ?? 'one without a name'));
  const message =
    name === undefined
      ? `The document has ${operations.length} operations (${names}): name one in operationName.`
      : `The document has no operation ${listNames([JSON.stringify(name)])}; it has ${names}.`;
  return { errors: [new GraphQLError(message)] };
}
