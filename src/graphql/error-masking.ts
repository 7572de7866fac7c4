import { InputValidationError } from '@pothos/plugin-validation';
import { GraphQLError } from 'graphql';
import type { Middleware } from 'koa';
import { type ApiError, ERRORS, toApiError } from '../errors.ts';
import { type Logger, logFault } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { originalError } from '../schema/rules.ts';
import { acceptedMediaType } from '../web/negotiation.ts';
import { LIMITS } from './limits.ts';
import { shortMessage } from './short-message.ts';

/** Who hears of errors. */
export interface ErrorWatch {
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** How many faults of one request are logged: a list in which every row fails has as many as rows. */
const FAULTS_MAX = 5;

/**
 * Masks the errors of one answer: anything that went wrong becomes the error that its client may see. `extensions.code`
 * is always set, and what is no refusal of ours or of GraphQL's is `INTERNAL_SERVER_ERROR`, with the cause logged under
 * the request id.
 */
export function createErrorMask(requestId: string, { log, metrics }: ErrorWatch): (thrown: unknown) => GraphQLError {
  const logged = new Set<unknown>();
  const note = (error: ApiError) => {
    if (error.cause === undefined || logged.size >= FAULTS_MAX || logged.has(error.cause)) return; // requests that share a statement share its fault
    logged.add(error.cause);
    logFault(log, error, requestId);
  };
  return (thrown) => {
    const masked = mask(thrown, note);
    metrics.countGraphqlError(String(masked.extensions.code));
    return masked;
  };
}

function mask(thrown: unknown, noteFault: (error: ApiError) => void): GraphQLError {
  const cause = originalError(thrown);
  if (cause instanceof InputValidationError) {
    const message = cause.issues.map(({ path = [], message }) => `${path.join('.')} ${message}`).join('; ');
    return rewrite(thrown, message, { code: ERRORS.bad_request.graphql });
  }
  if (cause instanceof GraphQLError && !isFault(thrown, cause)) {
    const { code, http } = cause.extensions;
    // The outermost error of a variable names the variable, the innermost only its value.
    return rewrite(thrown, thrown instanceof GraphQLError ? thrown.message : cause.message, {
      code: CODES.has(code) ? code : ERRORS.bad_request.graphql,
      ...(http ? { http } : {}),
    });
  }
  const error = toApiError(cause);
  noteFault(error);
  return rewrite(thrown, error.message, { ...extensionsOf(error), http: { headers: error.headers } });
}

/** The code of a refusal and, for one that passes, the seconds after which it may be tried again. */
function extensionsOf({ graphqlCode, headers }: ApiError): Record<string, unknown> {
  const retryAfter = headers['Retry-After'];
  return { code: graphqlCode, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) };
}

/**
 * Whether GraphQL complains of what a resolver gave, and not of what a client sent: a type's own error, which knows no
 * place in the document until it is located at the field.
 */
function isFault(thrown: unknown, cause: GraphQLError): boolean {
  const isOfField = thrown instanceof GraphQLError && thrown.path !== undefined;
  return isOfField && cause.nodes === undefined && !CODES.has(cause.extensions.code);
}

// graphql-yoga and its parts set further codes by themselves; the contract's list has none of them.
const CODES = new Set<unknown>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  ...Object.values(LIMITS).map((limit) => limit.code),
  ...Object.values(ERRORS).map((error) => error.graphql),
]);

/** How many places of the document an error names. */
const PLACES_MAX = 5;

function rewrite(thrown: unknown, message: string, extensions: Record<string, unknown>): GraphQLError {
  const { nodes, source, positions, path } = thrown instanceof GraphQLError ? thrown : new GraphQLError('');
  const places = { nodes: nodes?.slice(0, PLACES_MAX), source, positions: positions?.slice(0, PLACES_MAX), path };
  return new GraphQLError(shortMessage(message), { ...places, extensions });
}

/**
 * Koa middleware: the GraphQL form of every refusal below it that is not a GraphQL answer itself, such as a
 * missing key or a body that is no JSON.
 */
export function graphqlErrorBody({ log, metrics }: ErrorWatch): Middleware {
  return async (ctx, next) => {
    ctx.state.api = 'graphql';
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      logFault(log, error, ctx.state.requestId);
      metrics.countGraphqlError(error.graphqlCode);
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.set('Content-Type', acceptedMediaType(ctx));
      ctx.body = JSON.stringify({ errors: [{ message: error.message, extensions: extensionsOf(error) }] });
    }
  };
}
