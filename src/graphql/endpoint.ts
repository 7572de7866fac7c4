import type { GraphQLError } from 'graphql';
import type { GraphQLParams, YogaServerInstance } from 'graphql-yoga';
import type { Context as KoaContext, Middleware } from 'koa';
import type { Deadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import { parseJson } from '../int64.ts';
import type { Logger } from '../log.ts';
import { type Context, createContext } from '../schema/context.ts';
import { schema } from '../schema/schema.ts';
import type { Admission } from '../web/admission.ts';
import { isJsonObject, readJsonBody } from '../web/json-body.ts';
import { acceptedMediaType } from '../web/negotiation.ts';
import { maskError } from './error-masking.ts';
import { createKnownOperations, type KnownOperations, runKnown, type ShortAnswer } from './known-operations.ts';
import {
  createObserve,
  type Observe,
  type Observer,
  type ServerContext,
  useErrorMasking,
  useExecutor,
  useLimits,
  useObservation,
  useReadParams,
} from './yoga-plugins.ts';

/** Where GraphQL is served. */
export const GRAPHQL_PATH = '/graphql';

/** What the endpoint is given: the service below it, and who hears of its work. */
export interface GraphqlSettings extends Observer {
  readonly stores: Context['stores'];
  readonly bodyLimitBytes: number;
  readonly log: Logger;
  readonly atWork: Admission['atWork'];
}

/** The GraphQL face: GraphQL over HTTP on one path, for requests that have passed the key check. */
export function createGraphqlEndpoint(settings: GraphqlSettings): Middleware {
  const { stores, bodyLimitBytes, atWork } = settings;
  const known = createKnownOperations();
  const observe = createObserve(settings);
  let loading: Promise<Yoga> | undefined;
  const loadYoga = () => (loading ??= createGatewayYoga(settings, observe, known));

  /** The short way: what Yoga has accepted before is answered as Yoga would; everything else is left to it. */
  const answerKnown = async (ctx: KoaContext, mediaType: string, params: GraphQLParams, context: Context) => {
    const operation = known.find(params);
    const answer = operation && (await runKnown(operation, params.variables ?? {}, context));
    if (!operation || !answer) return false;
    observe(operation.document, operation.operation.operation, ctx.state as never); // Koa types it as any
    ctx.set('Content-Type', mediaType);
    if (context.reply.replayed) ctx.set('Idempotency-Replayed', 'true');
    ctx.body = answer.error
      ? writeFailure(ctx, answer, maskError(answer.error, ctx.state.requestId, settings))
      : `{"data":${answer.dataJson}}`;
    return true;
  };

  const answerParams = async (ctx: KoaContext, mediaType: string, params: GraphQLParams, deadline: Deadline) => {
    const resolverContext = createContext(stores, ctx.state, ctx.req.headers, deadline);
    if (ctx.method === 'POST' && (await answerKnown(ctx, mediaType, params, resolverContext))) return;
    const yoga = await loadYoga();
    const response = await yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, { koa: ctx, params, resolverContext });
    ctx.status = response.status;
    ctx.set(Object.fromEntries(response.headers));
    if (resolverContext.reply.replayed) ctx.set('Idempotency-Replayed', 'true');
    ctx.body = await response.text();
  };

  return async (ctx) => {
    const mediaType = acceptedMediaType(ctx);
    // Yoga ignores the weights of RFC 9110 §12.5.1, and would answer as an event stream too.
    ctx.req.headers.accept = mediaType;
    const params = requireQuery(await readParams(ctx, bodyLimitBytes));
    await atWork(ctx, (deadline) => answerParams(ctx, mediaType, params, deadline));
  };
}

type Yoga = YogaServerInstance<ServerContext, Context>;

/** Yoga with every default decided. It takes a fifth of a start to load, so it is loaded with its first request. */
async function createGatewayYoga(settings: GraphqlSettings, observe: Observe, known: KnownOperations): Promise<Yoga> {
  const { createYoga } = await import('graphql-yoga');
  return createYoga<ServerContext, Context>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: ({ resolverContext }) => resolverContext,
    plugins: [useReadParams(), useLimits(), useExecutor(), useObservation(observe, known), useErrorMasking(settings)],
    maskedErrors: false,
    // Koa does these, for both faces alike.
    cors: false,
    logging: false,
    healthCheckEndpoint: '/never-routed-here',
    graphiql: false,
    landingPage: false,
    // One operation a request, as JSON, of the size that readJsonBody allows.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
  });
}

function writeFailure(ctx: KoaContext, { dataJson }: ShortAnswer, error: GraphQLError): string {
  const { http, ...extensions } = error.extensions as { http?: { headers?: Record<string, string> } }; // of maskError
  ctx.set(http?.headers ?? {});
  return `{"errors":[${JSON.stringify({ ...error.toJSON(), extensions })}],"data":${dataJson}}`;
}

async function readParams(ctx: KoaContext, bodyLimitBytes: number): Promise<GraphQLParams> {
  if (ctx.method === 'POST') return (await readJsonBody(ctx.req, bodyLimitBytes)) as GraphQLParams; // Yoga checks the shape
  if (ctx.method !== 'GET') {
    const headers = { Allow: 'GET, POST' };
    throw new ApiError('method_not_allowed', `${GRAPHQL_PATH} allows only GET and POST.`, { headers });
  }
  const query = new URLSearchParams(ctx.querystring);
  return {
    ...(query.has('query') && { query: query.get('query') ?? '' }),
    ...(query.has('operationName') && { operationName: query.get('operationName') ?? '' }),
    ...readJsonParameter(query, 'variables'),
    ...readJsonParameter(query, 'extensions'),
  };
}

/** Yoga would take it for a document that does not fit; it is no GraphQL request at all (GraphQL over HTTP §6.4.1). */
function requireQuery(params: GraphQLParams): GraphQLParams {
  if (!isJsonObject(params) || (params.query ?? null) !== null) return params;
  throw new ApiError('bad_request', 'The parameter query is required: the GraphQL document.');
}

/** GET: variables and extensions are JSON texts, https://graphql.github.io/graphql-over-http/draft/#sec-GET */
function readJsonParameter(query: URLSearchParams, name: 'variables' | 'extensions'): GraphQLParams {
  const text = query.get(name);
  if (text === null || text === '') return {};
  try {
    const value = parseJson(text);
    if (value === null || isJsonObject(value)) return { [name]: value ?? {} };
  } catch {
    // refused below, like JSON that is no object
  }
  throw new ApiError('bad_request', `The query parameter ${name} must be a JSON object.`);
}
