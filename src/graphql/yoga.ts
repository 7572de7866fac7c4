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

type GatewayPlugin = Plugin<object, ServerContext>;

/**
 * Yoga with every default decided: it says what GraphQL over HTTP makes of parameters, and of answers with errors. It
 * prepares and runs nothing, so it keeps no documents.
 */
export function createGatewayYoga(schema: GraphQLSchema, path: string, watch: ErrorWatch) {
  return createYoga<ServerContext>({
    schema,
    graphqlEndpoint: path,
    plugins: [useReadParams(), useAnswer(), useErrorMasking(watch)],
    parserAndValidationCache: false,
    maskedErrors: false,
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

/** Takes the parameters that were read before Yoga, whatever the method and content type. */
function useReadParams(): GatewayPlugin {
  return {
    onRequestParse: ({ setRequestParser, serverContext }) => setRequestParser(() => serverContext.params),
  };
}

/** Takes the answer that there is already. */
function useAnswer(): GatewayPlugin {
  return {
    onParams({ context, setResult }) {
      const { answer } = context as unknown as ServerContext; // Yoga merges its server context into the context
      if (answer) setResult({ errors: answer.errors, ...(answer.dataJson !== undefined && { data: null }) });
    },
  };
}

/** Shows errors as `createErrorMask` has them; a request that failed before it ran is 400 to those who ask for that. */
function useErrorMasking(watch: ErrorWatch): GatewayPlugin {
  return {
    // Not Yoga's maskedErrors: they tell nothing of the request, whose id belongs to the cause in the log.
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
