import { InputValidationError } from '@pothos/plugin-validation';
import { GraphQLError } from 'graphql';
import type { Middleware } from 'koa';
import { type ApiError, ERRORS, QUOTED_MAX, toApiError } from '../errors.ts';
import { maskValue } from '../key-mask.ts';
import { type Logger, logFault } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { LOCATIONS_MAX } from '../schema/planned-execution.ts';
import { originalError } from '../schema/rules.ts';
import { acceptedMediaType } from '../web/negotiation.ts';
import { DOCUMENT_CODES, LIMITS } from './limits.ts';

/** Where errors are logged and counted. */
export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The most internal errors of one request that are logged, because each item of a list may have one. */
const FAULTS_MAX = 5;

/**
 * Masks the errors of one answer: each becomes an error that its client may see, with an `extensions.code`. An error that is
 * neither an ApiError nor GraphQL's own becomes `INTERNAL_SERVER_ERROR`, and its cause is logged under the request id.
 */
export function createErrorMask(requestId: string, { log, metrics }: Telemetry): (thrown: unknown) => GraphQLError {
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

/** The values of `extensions.code` that clients may see. graphql-yoga sets others; they are replaced. */
export const ERROR_CODES: readonly string[] = [
  ...Object.keys(DOCUMENT_CODES),
  ...Object.values(LIMITS).map((limit) => limit.code),
  ...Object.values(ERRORS).map((error) => error.graphql),
];
const CODES = new Set<unknown>(ERROR_CODES);

function rewrite(thrown: unknown, message: string, extensions: Record<string, unknown>): GraphQLError {
  const { nodes, source, positions, path } = thrown instanceof GraphQLError ? thrown : new GraphQLError('');
  const locations = { nodes: nodes?.slice(0, LOCATIONS_MAX), positions: positions?.slice(0, LOCATIONS_MAX), source };
  return new GraphQLError(shortMessage(message), { ...locations, path, extensions });
}

/** Koa middleware: an error of the inner middleware, such as a missing API key, becomes a GraphQL answer with one error. */
export function graphqlErrorBody({ log, metrics }: Telemetry): Middleware {
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

/** The longest message with its quotes, in characters. */
const MESSAGE_MAX = 400;

/** How many characters of a longer message are read. */
const READ_MAX = 2 * MESSAGE_MAX;

// In messages of graphql-js, input is in quotation marks, or follows one of these words to the end.
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)|(?<=(?:found|Found|value): ).+$/gs;

/** Shortens a message of graphql-js: it then quotes at most the first 100 characters of the input, and no API key. */
function shortMessage(whole: string): string {
  const message = maskValue(cut(whole, READ_MAX)); // before quotes are cut, because a part of an API key would not be recognized
  if (message.length <= QUOTED_MAX) return message;
  let left = QUOTED_MAX;
  const shortened = message.replace(QUOTED, (quoted) => {
    const shown = cut(quoted, left);
    left = Math.max(0, left - quoted.length);
    return shown;
  });
  return cut(shortened, MESSAGE_MAX);
}

/** Lists names from the input for a message, cut to the length that it may quote. */
export function listNames(names: readonly string[]): string {
  return cut(maskValue(names.slice(0, QUOTED_MAX).join(', ')), QUOTED_MAX);
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;
}
