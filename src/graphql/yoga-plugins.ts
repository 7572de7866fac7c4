import { type DocumentNode, execute, type GraphQLError, getOperationAST, parse } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { Context as KoaContext } from 'koa';
import type { Metrics } from '../metrics.ts';
import { deprecationsIn } from '../schema/compile.ts';
import type { Context } from '../schema/context.ts';
import { type ErrorWatch, maskError } from './error-masking.ts';
import type { KnownOperations } from './known-operations.ts';
import { aliasLimitRule, costOf, depthLimitRule, LIMITS, limitError } from './limits.ts';

/** What Yoga gets of a request beside the request: Koa's context as a property, not as itself (yoga#3145). */
export interface ServerContext {
  readonly koa: KoaContext;
  /** The parameters, read already: Yoga's own readers round integers and take other content types. */
  readonly params: GraphQLParams;
  readonly resolverContext: Context;
}

type GatewayPlugin = Plugin<Context, ServerContext>;

/** Takes the parameters that were read before Yoga, whatever the method and content type. */
export function useReadParams(): GatewayPlugin {
  return {
    onRequestParse: ({ setRequestParser, serverContext }) => setRequestParser(() => serverContext.params),
  };
}

/** Refuses what is beyond LIMITS before any resolver runs. */
export function useLimits(): GatewayPlugin {
  return {
    onParse({ setParseFn }) {
      setParseFn(parseWithinLimit);
    },
    onValidate({ addValidationRule }) {
      addValidationRule(aliasLimitRule);
      addValidationRule(depthLimitRule);
    },
    onExecute({ args, setResultAndStopExecution }) {
      const document: DocumentNode = args.document;
      const operation = getOperationAST(document, args.operationName);
      if (!operation) return; // execution refuses it
      const cost = costOf({ document, operation, variables: args.variableValues ?? {} });
      if (cost > LIMITS.cost.most) setResultAndStopExecution({ errors: [limitError('cost')] });
    },
  };
}

function parseWithinLimit(...[source, options]: Parameters<typeof parse>): ReturnType<typeof parse> {
  try {
    return parse(source, { ...options, maxTokens: LIMITS.tokens.most });
  } catch (error) {
    // graphql-js tells this refusal from a syntax error by its message only; what parse throws is a GraphQLError
    throw (error as GraphQLError).message.includes('Parsing aborted') ? limitError('tokens') : error;
  }
}

/** Shows errors as `maskError` has them; a request that failed before it ran is 400 to those who ask for that. */
export function useErrorMasking(watch: ErrorWatch): GatewayPlugin {
  return {
    // Not Yoga's maskedErrors: they tell nothing of the request, whose id belongs to the cause in the log.
    onResultProcess({ result, setResult, serverContext }) {
      if (!('errors' in result) || !result.errors?.length) return; // batches and streams are never answered
      const errors = result.errors.map((error) => {
        const masked = maskError(error, serverContext.koa.state.requestId, watch);
        // graphql-over-http §6.4.2: a request error, such as a wrong variable, has no `data`
        if (!('data' in result)) masked.extensions.http ??= { status: 400, spec: true };
        return masked;
      });
      setResult({ ...result, errors });
    },
  };
}

/** graphql-js itself instead of Yoga's executor: one implementation runs both faces. */
export function useExecutor(): GatewayPlugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(execute);
    },
  };
}

/** Who hears of what is run. */
export interface Observer {
  readonly metrics: Metrics;
  readonly noteDeprecatedUse: (apiKeyId: string, operation: string) => void;
}

/** Hears what is about to run, and for whom. */
export type Observe = (document: DocumentNode, type: string, state: RequestState) => void;

/** What the endpoint notes of a request for the log and the metrics. */
interface RequestState {
  keyId: string;
  operation?: string;
}

/** Tells the log, the metrics and the count of deprecated uses. */
export function createObserve({ metrics, noteDeprecatedUse }: Observer): Observe {
  const deprecated = new WeakMap<DocumentNode, string[]>();
  const coordinatesIn = (document: DocumentNode): string[] => {
    const known = deprecated.get(document);
    if (known !== undefined) return known;
    const coordinates = deprecationsIn(document).map(({ coordinate }) => coordinate);
    deprecated.set(document, coordinates);
    return coordinates;
  };
  return (document, type, state) => {
    state.operation = type;
    metrics.countGraphqlOperation(type);
    for (const coordinate of coordinatesIn(document)) noteDeprecatedUse(state.keyId, coordinate);
  };
}

/** Observes what Yoga runs, and remembers it for the short way. */
export function useObservation(observe: Observe, known: KnownOperations): GatewayPlugin {
  return {
    onExecute({ args, context }) {
      const { koa, params } = context as unknown as ServerContext; // Yoga merges its server context into the context
      observe(
        args.document,
        getOperationAST(args.document, args.operationName)?.operation ?? 'unknown',
        koa.state as RequestState,
      ); // Koa types it as any
      if (params.query) known.learn(params.query, args.document);
    },
  };
}
