import type { GraphQLSchema } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import type { Context as KoaContext } from 'koa';
import { createErrorMask, type ErrorWatch } from './error-masking.ts';
import type { Answer } from './planned-execution.ts';

/** What Yoga gets of a request beside the request: Koa's context as a property, not as itself (yoga#3145). */
interface ServerContext {
  readonly koa: KoaContext;
  /** The parameters, read already: Yoga's own readers round integers and take other content types. */
  readonly params: GraphQLParams;
  /** What came of them; undefined when they have no shape that could be run. */
  readonly answer: Answer | undefined;
}

/**
 * Yoga with every default decided. It says what GraphQL over HTTP makes of malformed parameters and of answers with errors:
 * status, headers and body. It runs nothing, because its executor would take more time than the rest of a request.
 */
export function createGatewayYoga(schema: GraphQLSchema, path: string, watch: ErrorWatch) {
  return createYoga<ServerContext>({
    schema,
    graphqlEndpoint: path,
    plugins: [answerWith(watch)],
    parserAndValidationCache: false,
    maskedErrors: false, // they are told nothing of the request, whose id belongs to the cause in the log
    // Koa does these, for both APIs alike.
    cors: false,
    logging: false,
    healthCheckEndpoint: '/never-routed-here',
    graphiql: false,
    landingPage: false,
    // One operation a request, as JSON, of the size that readJsonBytes allows.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
  });
}

/** Gives Yoga parameters and answer as they are there, and shows errors as `createErrorMask` has them. */
function answerWith(watch: ErrorWatch): Plugin<object, ServerContext> {
  return {
    onRequestParse: ({ setRequestParser, serverContext }) => setRequestParser(() => serverContext.params),
    onParams({ context, setResult }) {
      const { answer } = context as unknown as ServerContext; // Yoga merges its server context into the context
      if (answer) setResult({ errors: answer.errors, ...(answer.dataJson !== undefined && { data: null }) });
    },
    onResultProcess({ result, setResult, serverContext: { koa, answer } }) {
      if (!('errors' in result) || !result.errors?.length) return; // batches and streams are never answered
      const mask = createErrorMask(koa.state.requestId, watch);
      const errors = result.errors.map((error) => {
        const masked = mask(error);
        // graphql-over-http §6.4.2: a request error, such as a wrong variable, has no `data`
        if (!('data' in result)) masked.extensions.http ??= { status: 400, spec: true };
        return masked;
      });
      const data = answer?.dataJson === undefined ? '' : `,"data":${answer.dataJson}`;
      setResult({ ...result, errors, stringify: ({ errors }) => `{"errors":${JSON.stringify(errors)}${data}}` });
    },
  };
}
