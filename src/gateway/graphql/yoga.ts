import type { GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Context as KoaContext } from 'koa';
import type { Answer } from '../../lib/graphql-plan/graphql-plan.ts';
import { createErrorMask, type Telemetry } from './error-masking.ts';

/** The server context of Yoga. Koa's context is a property of it, because it must not be Yoga's context itself (yoga#3145). */
interface ServerContext {
  readonly koa: KoaContext;
  readonly answer: Answer;
}

/**
 * Creates a Yoga server that writes answers with errors by the rules of GraphQL over HTTP: status, headers and body. It executes
 * no operations: Yoga's executor takes more CPU time than the rest of a request.
 */
export function createGatewayYoga(schema: GraphQLSchema, path: string, telemetry: Telemetry) {
  return createYoga<ServerContext>({
    schema,
    graphqlEndpoint: path,
    plugins: [answerPlugin(telemetry)],
    parserAndValidationCache: false,
    maskedErrors: false, // `onResultProcess` masks them, with the request id, which Yoga would not pass
    // Koa's middleware and routes do these, for both APIs.
    cors: false,
    logging: false,
    healthCheckEndpoint: '/never-routed-here',
    graphiql: false,
    landingPage: false,
    // A request is one operation as JSON; readJsonBytes limits its size.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
  });
}

/** Creates a Yoga plugin that passes the answer to Yoga, and masks the errors. */
function answerPlugin(telemetry: Telemetry): Plugin<object, ServerContext> {
  return {
    // The endpoint has read the parameters. Yoga's own parsers would round integers and accept other content types.
    onRequestParse: ({ setRequestParser }) => setRequestParser(() => ({ query: '' })),
    onParams({ context, setResult }) {
      const { answer } = context as unknown as ServerContext; // Yoga's context has the properties of its server context
      setResult({ errors: answer.errors, ...(answer.dataJson !== undefined && { data: null }) });
    },
    onResultProcess({ result, setResult, serverContext: { koa } }) {
      if (!('errors' in result) || !result.errors?.length) return; // incremental results do not occur
      const mask = createErrorMask(koa.state.requestId, telemetry);
      const errors = result.errors.map((error) => {
        const masked = mask(error);
        // GraphQL over HTTP §6.4.2: the answer to a request error, such as a wrong variable, has no `data`.
        if (!('data' in result)) masked.extensions.http ??= { status: 400, spec: true };
        return masked;
      });
      // The endpoint adds the data behind the errors.
      setResult({ ...result, errors, stringify: ({ errors }) => `{"errors":${JSON.stringify(errors)}}` });
    },
  };
}
