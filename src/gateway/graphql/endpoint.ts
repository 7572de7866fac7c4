import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { PlanRequest, Result } from '../../lib/graphql-plan/graphql-plan.ts';
import { makeOnce } from '../caches.ts';
import { ApiError } from '../errors.ts';
import type { AdmittedCall, Answer, Route } from '../http/call.ts';
import { acceptedMediaType } from '../http/negotiation.ts';
import { quoteInput } from '../masking.ts';
import { type Context, createContext } from '../schema/context.ts';
import type { Service } from '../service.ts';
import type { Stores } from '../store/store.ts';
import { createDocuments, type PreparedDocument, type PreparedOperation, type PreparedPlan } from './documents.ts';
import { createErrorMask, type Telemetry, tellErrors } from './error-masking.ts';
import { createExecution } from './execution.ts';
import { parametersFromBody, parametersFromQuery } from './request-parameters.ts';

/** The path of the GraphQL API. */
export const GRAPHQL_PATH = '/graphql';

/** The dependencies of the routes. */
export interface GraphqlParts extends Telemetry {
  readonly service: Pick<Service, 'deprecations' | 'plural'>;
  readonly schema: GraphQLSchema;
  readonly stores: Stores;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
  /** Runs a plan; by default planned execution. */
  readonly runPlan?: (request: PlanRequest<Context>) => Promise<Result>;
}

/**
 * Creates the routes of GraphQL over HTTP, for GET, HEAD and POST. The handler throws ApiError for a request without a document, and
 * for a mutation by GET or HEAD. `preload` loads what it needs later.
 */
export function createGraphqlRoutes(parts: GraphqlParts) {
  const { handle, preload } = createHandler(parts);
  const common = { path: GRAPHQL_PATH, changes: false, isDeprecated: false, handle };
  const routes: readonly Route[] = [
    { ...common, methods: ['GET', 'HEAD'], takesBody: false },
    { ...common, methods: ['POST'], takesBody: true },
  ];
  return { routes, preload };
}

function createHandler({ service, schema, stores, noteDeprecatedUse, runPlan, ...telemetry }: GraphqlParts) {
  const prepareDocument = createDocuments(schema, service.deprecations);
  const execute = createExecution(schema, service.plural, runPlan);
  // Yoga knows how GraphQL over HTTP tells errors. It is not imported at the start, because the import would slow every start.
  const loadYoga = makeOnce(() => import('graphql-yoga'));

  const observe = ({ told, caller }: AdmittedCall, { operation }: PreparedOperation, { deprecated }: PreparedPlan) => {
    told.operation = operation.operation;
    telemetry.metrics.countGraphqlOperation(operation.operation);
    for (const coordinate of deprecated) noteDeprecatedUse(caller.keyId, coordinate);
  };

  const answerErrors = async ({ headers, requestId }: AdmittedCall, { errors, dataJson }: Result): Promise<Answer> => {
    const yoga = await loadYoga(); // before anything is logged and counted: it may fail
    const masked = errors.map(createErrorMask(requestId, telemetry));
    const answer = await tellErrors(yoga, masked, dataJson !== undefined, acceptedMediaType(headers));
    if (dataJson === undefined) return answer;
    return { ...answer, body: wrapData(`${answer.body.slice(0, -1)},"data":`, dataJson) };
  };

  // Not async: an async function keeps all that it had, such as the variables as they were sent, while it waits.
  const begin = (call: AdmittedCall) => {
    const { method, headers, caller, deadline, reserve } = call;
    const { query, operationName, variables } =
      method === 'POST' ? parametersFromBody(call.body) : parametersFromQuery(call.querystring);
    const document = prepareDocument(query);
    const prepared = chooseOperation(document, operationName);
    if ('errors' in prepared) return { result: prepared };
    if (prepared.isMutation && method !== 'POST') {
      throw new ApiError('method_not_allowed', 'A mutation must be sent by POST.', { headers: { Allow: 'POST' } });
    }
    if (document.errors.length > 0) return { result: { errors: document.errors } };
    const context = createContext(stores, caller, headers, deadline);
    const onRun = (plan: PreparedPlan) => observe(call, prepared, plan);
    const result = execute({ prepared, variables, context, reserve, bytes: call.body.length, onRun });
    return { result, context, isMutation: prepared.isMutation };
  };

  const handle = async (call: AdmittedCall): Promise<Answer> => {
    const begun = begin(call);
    const result = await begun.result;
    const answer =
      result.errors.length > 0
        ? await answerErrors(call, result)
        : {
            status: 200,
            headers: { 'Content-Type': acceptedMediaType(call.headers) },
            body: wrapData('{"data":', result.dataJson ?? 'null'),
          };
    if (begun.context === undefined) return answer;
    const replayed = begun.context.isReplayed() && { 'Idempotency-Replayed': 'true' };
    return { ...answer, tellsChange: begun.isMutation, headers: { ...replayed, ...answer.headers } };
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
): PreparedOperation | Result {
  const [first, another] = operations;
  if (name === undefined && !another && first) return first;
  const named = operations.find(({ operation }) => name !== undefined && operation.name?.value === name);
  if (named) return named;
  if (!first) {
    const isParsed = errors.every(({ extensions }) => extensions.code === 'GRAPHQL_VALIDATION_FAILED');
    return { errors: isParsed ? [new GraphQLError('The document has no operation.')] : errors };
  }
  const all = operations.map(({ operation }) => operation.name?.value ?? 'one without a name');
  const names = quoteInput(all.join(', '));
  const message =
    name === undefined
      ? `The document has ${operations.length} operations (${names}): name one in operationName.`
      : `The document has no operation ${quoteInput(JSON.stringify(name))}; it has ${names}.`;
  return { errors: [new GraphQLError(message)] };
}
