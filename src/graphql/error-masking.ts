import { InputValidationError } from '@pothos/plugin-validation';
import { GraphQLError } from 'graphql';
import type { Middleware } from 'koa';
import { type ApiError, ERRORS, toApiError } from '../errors.ts';
import { type Logger, logFault } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { originalError } from '../schema/rules.ts';
import { acceptedMediaType } from '../web/negotiation.ts';
import { LIMITS, LOCATIONS_MAX } from './limits.ts';
import { shortMessage } from './short-message.ts';

/** Where errors are logged and counted. */
export interface ErrorWatch {
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The most internal errors of one request that are logged, because each item of a list may have one. */
const FAULTS_MAX = 5;

/**
 * Masks the errors of one answer: each becomes an error that its client may see, with an `extensions.code`. An error that is
 * neither an ApiError nor GraphQL's own becomes `INTERNAL_SERVER_ERROR`, and its cause is logged under the request id.
 */
export function createErrorMask(requestId: string, { log, metrics }: ErrorWatch): (thrown: unknown) => GraphQLError {
  const logged = new Set<unknown>();
  const note = (error: ApiError) => {
    // Fields whose reads share a statement share its error.
    if (error.cause === undefined || logged.size >= FAULTS_MAX || logged.has(error.cause)) return;
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
    // The outermost error of a variable names the variable, the innermost one only its value.
    return rewrite(thrown, thrown instanceof GraphQLError ? thrown.message : cause.message, {
      code: CODES.has(code) ? code : ERRORS.bad_request.graphql,
      ...(http ? { http } : {}),
    });
  }
  const error = toApiError(cause);
  noteFault(error);
  return rewrite(thrown, error.message, { ...extensionsOf(error), http: { headers: error.headers } });
}

/** The extensions of a refusal: its code, and the seconds of `Retry-After` if it has that header. */
function extensionsOf({ graphqlCode, headers }: ApiError): Record<string, unknown> {
  const retryAfter = headers['Retry-After'];
  return { code: graphqlCode, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) };
}

/**
 * Whether a GraphQLError is about a resolver's value, and not about the request. A type throws such an error without nodes;
 * execution then wraps it in an error with the field's path.
 */
function isFault(thrown: unknown, cause: GraphQLError): boolean {
  const isOfField = thrown instanceof GraphQLError && thrown.path !== undefined;
  return isOfField && cause.nodes === undefined && !CODES.has(cause.extensions.code);
}

// The codes that clients may see. graphql-yoga sets others; they are replaced.
const CODES = new Set<unknown>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  ...Object.values(LIMITS).map((limit) => limit.code),
  ...Object.values(ERRORS).map((error) => error.graphql),
]);

function rewrite(thrown: unknown, message: string, extensions: Record<string, unknown>): GraphQLError {
  const { nodes, source, positions, path } = thrown instanceof GraphQLError ? thrown : new GraphQLError('');
  return new GraphQLError(shortMessage(message), {
    nodes: nodes?.slice(0, LOCATIONS_MAX),
    source,
    positions: positions?.slice(0, LOCATIONS_MAX),
    path,
    extensions,
  });
}

/** Koa middleware: an error thrown below, such as a missing key or invalid JSON, becomes a GraphQL answer with one error. */
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
