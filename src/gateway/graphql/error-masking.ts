import { InputValidationError } from '@pothos/plugin-validation';
import { GraphQLError } from 'graphql';
import type { FetchAPI, processRegularResult } from 'graphql-yoga';
import { LOCATIONS_MAX, originalError } from '../../lib/graphql-plan/graphql-plan.ts';
import { type ApiError, ERRORS, toApiError } from '../errors.ts';
import type { ErrorWriter } from '../http/answer.ts';
import { acceptedMediaType } from '../http/negotiation.ts';
import { type Logger, logFault } from '../log.ts';
import { cut, maskStart, printable, QUOTED_MAX } from '../masking.ts';
import type { Metrics } from '../metrics.ts';
import { DOCUMENT_CODES, LIMITS } from './limits.ts';

/** Where errors are logged and counted. */
export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The most faults that one request logs: each item of a list may have one. */
const FAULTS_MAX = 5;

/**
 * Creates a function that masks the errors of one answer: it gives an error that clients may see, with an `extensions.code`. An
 * unknown error becomes `INTERNAL_SERVER_ERROR`; its cause is logged with the request id.
 */
export function createErrorMask(requestId: string, { log, metrics }: Telemetry): (thrown: unknown) => GraphQLError {
  // Reads in one batch reject with the same error: it is logged once.
  const logged = new Set<unknown>([undefined]);
  return (thrown) => {
    const masked = mask(thrown, (error) => {
      if (logged.size > FAULTS_MAX || logged.has(error.cause)) return;
      logged.add(error.cause);
      logFault(log, error, requestId);
    });
    metrics.countGraphqlError(String(masked.extensions.code));
    return masked;
  };
}

function mask(thrown: unknown, noteFault: (error: ApiError) => void): GraphQLError {
  const cause = originalError(thrown);
  if (cause instanceof InputValidationError) {
    const messages = cause.issues.map(({ path = [], message }) => `${path.join('.') || 'The arguments'} ${message}`);
    return rewrite(thrown, messages.join('; '), { code: ERRORS.bad_request.graphql });
  }
  if (cause instanceof GraphQLError && !isFault(thrown, cause)) {
    const { code, http } = cause.extensions;
    // graphql-js nests the errors of a variable: only the outermost one names the variable.
    return rewrite(thrown, thrown instanceof GraphQLError ? thrown.message : cause.message, {
      code: CODES.has(code) ? code : ERRORS.bad_request.graphql,
      ...(http ? { http } : {}),
    });
  }
  const error = toApiError(cause);
  noteFault(error);
  // A scalar refuses a variable: only the message of graphql-js names it.
  const isOfVariable = error.code === 'bad_request' && thrown instanceof GraphQLError && thrown.path === undefined;
  return rewrite(thrown, isOfVariable ? thrown.message : error.message, {
    ...extensionsOf(error),
    http: { headers: error.headers },
  });
}

/** The extensions of an ApiError: its code, and `retryAfter` in seconds if it has the header `Retry-After`. */
function extensionsOf({ graphqlCode, headers }: ApiError): Record<string, unknown> {
  const retryAfter = headers['Retry-After'];
  return { code: graphqlCode, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) };
}

/**
 * Whether a GraphQLError is a fault: a resolver gave a value that its type cannot serialize. The type throws it without nodes, and
 * execution wraps it in an error with the field's path. Any other GraphQLError is about the request.
 */
function isFault(thrown: unknown, cause: GraphQLError): boolean {
  const isOfField = thrown instanceof GraphQLError && thrown.path !== undefined;
  return isOfField && cause.nodes === undefined && !CODES.has(cause.extensions.code);
}

/** The values of `extensions.code` that clients may see. Other ones, which Yoga sets, are replaced. */
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

/** How GraphQL tells an error of the request, such as a missing API key: a result with one error. */
export function createErrorWriter({ countGraphqlError }: Pick<Metrics, 'countGraphqlError'>): ErrorWriter {
  return (error, headers) => {
    countGraphqlError(error.graphqlCode);
    const errors = [{ message: error.message, extensions: extensionsOf(error) }];
    return { type: acceptedMediaType(headers), body: JSON.stringify({ errors }) };
  };
}

/** The part of the Fetch API of which Yoga's function makes its answer. */
const FETCH = { Response } as unknown as FetchAPI; // it uses no other part

/**
 * The answer that tells errors by the rules of GraphQL over HTTP: its status, its headers, and `{"errors":[…]}`. `mediaType` is
 * its media type with the charset.
 */
export async function tellErrors(
  yoga: { readonly processRegularResult: typeof processRegularResult },
  errors: readonly GraphQLError[],
  hasData: boolean,
  mediaType: string,
) {
  // GraphQL over HTTP §6.4.2: the answer to a request error, such as a wrong variable, has no `data`.
  if (!hasData)
    for (const { extensions } of errors) extensions.http = { status: 400, spec: true, ...Object(extensions.http) };
  const result = {
    errors,
    ...(hasData && { data: null }),
    stringify: (clean: { errors?: unknown }) => `{"errors":${JSON.stringify(clean.errors)}}`,
  };
  const response = yoga.processRegularResult(result, FETCH, mediaType.replace(/;.*/, ''));
  const headers = Object.fromEntries(response.headers);
  const { 'content-type': type = mediaType, ...others } = headers; // `others` are those of the errors, such as retry-after
  return { status: response.status, headers: { ...others, 'Content-Type': type }, body: await response.text() };
}

const MESSAGE_MAX = 400;

// Messages of graphql-js quote input in quotation marks, or after one of these words up to the end: an unknown field may itself have
// quotation marks. Its own words follow `has invalid value: `.
const QUOTED = /(?<=unknown field |Value |(?:found|Found|(?<!invalid )value): ).+$|"(?:[^"\\]|\\.)*(?:"|$)/gs;

/** Shortens a message of graphql-js. It then quotes QUOTED_MAX characters of input at most, and no API key. */
function shortMessage(whole: string): string {
  const start = maskStart(whole, MESSAGE_MAX); // before quotes are cut, because a part of an API key would not be recognized
  const message = printable(start.replace(/\n\s*/g, ' ')); // graphql-js writes a long object in lines
  if (message.length <= QUOTED_MAX) return message;
  let left = QUOTED_MAX;
  const shortened = message.replace(QUOTED, (quoted) => {
    const shown = cut(quoted, left);
    left = Math.max(0, left - quoted.length);
    return shown;
  });
  return cut(shortened, MESSAGE_MAX);
}
