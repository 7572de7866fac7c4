import type { GraphQLSchema } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import type { Context as KoaContext } from 'koa';
import type { Answer } from '../schema/planned-execution.ts';
import { createErrorMask, type ErrorWatch } from './error-masking.ts';

/** What Yoga gets besides the request. Koa's context is a property of it, and not the whole (yoga#3145). */
interface ServerContext {
  readonly koa: KoaContext;
  /** The parameters. Yoga's own parsers would round integers and accept other content types. */
  readonly params: GraphQLParams;
  /** The answer; undefined when the parameters have wrong types. */
  readonly answer: Answer | undefined;
}

/**
 * Creates Yoga, which writes every answer with errors by the rules of GraphQL over HTTP: status, headers and body. Yoga does
 * not execute operations, because its executor takes more CPU time than the rest of a request.
 */
export function createGatewayYoga(schema: GraphQLSchema, path: string, watch: ErrorWatch) {
  return createYoga<ServerContext>({
    schema,
    graphqlEndpoint: path,
    plugins: [answerWith(watch)],
    parserAndValidationCache: false,
    maskedErrors: false, // `onResultProcess` masks them: Yoga's mask does not get the request id
    // Koa's middleware does these for both APIs.
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

/** A plugin that gives Yoga the parameters and the answer, and masks errors by `createErrorMask`. */
function answerWith(watch: ErrorWatch): Plugin<object, ServerContext> {
  return {
    onRequestParse: ({ setRequestParser, serverContext }) => setRequestParser(() => serverContext.params),
    onParams({ context, setResult }) {
      const { answer } = context as unknown as ServerContext; // Yoga merges its server context into the context
      if (answer) setResult({ errors: answer.errors, ...(answer.dataJson !== undefined && { data: null }) });
    },
    onResultProcess({ result, setResult, serverContext: { koa } }) {
      if (!('errors' in result) || !result.errors?.length) return; // batches and streams do not occur
      const mask = createErrorMask(koa.state.requestId, watch);
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
