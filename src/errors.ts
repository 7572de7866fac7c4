/**
 * THE table of refusals: what an ApiError is called in each API.
 * `code` is the REST Error body's `code`, `graphql` is `extensions.code`; `retryAfterS` is `Retry-After` where nothing else is known.
 */
export const ERRORS = {
  bad_request: { status: 400, graphql: 'BAD_USER_INPUT' },
  unauthorized: { status: 401, graphql: 'UNAUTHENTICATED' },
  forbidden: { status: 403, graphql: 'FORBIDDEN' },
  not_found: { status: 404, graphql: 'BAD_USER_INPUT' },
  method_not_allowed: { status: 405, graphql: 'BAD_USER_INPUT' },
  idempotency_conflict: { status: 409, graphql: 'IDEMPOTENCY_CONFLICT', retryAfterS: 1 },
  payload_too_large: { status: 413, graphql: 'PAYLOAD_TOO_LARGE' },
  unsupported_media_type: { status: 415, graphql: 'BAD_USER_INPUT' },
  idempotency_mismatch: { status: 422, graphql: 'IDEMPOTENCY_MISMATCH' },
  too_many_requests: { status: 429, graphql: 'TOO_MANY_REQUESTS', retryAfterS: 1 },
  internal_error: { status: 500, graphql: 'INTERNAL_SERVER_ERROR' },
  service_unavailable: { status: 503, graphql: 'SERVICE_UNAVAILABLE', retryAfterS: 1 },
} as const satisfies Record<string, Refusal>;

interface Refusal {
  readonly status: number;
  readonly graphql: string;
  readonly retryAfterS?: number;
}

/** A word of the table: the `code` of a REST Error. */
export type ErrorCode = keyof typeof ERRORS;

/** What an ApiError may carry beside its code and its public message. */
export interface ApiErrorDetails {
  /** The fault behind it: logged, never shown. */
  cause?: unknown;
  /** HTTP response headers that belong to the refusal, such as `Allow`. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * A refusal that a client may see. `message` is public; `cause` goes to the log only.
 * Everything thrown that is no ApiError is a fault of ours and is shown as `internal_error`.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, details: ApiErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ApiError';
    this.code = code;
    const row: Refusal = ERRORS[code];
    const retry = row.retryAfterS === undefined ? {} : { 'Retry-After': String(row.retryAfterS) };
    this.headers = { ...retry, ...details.headers };
  }

  /** The HTTP status of the refusal. */
  get status(): number {
    return ERRORS[this.code].status;
  }

  /** The GraphQL `extensions.code` of the refusal. */
  get graphqlCode(): string {
    return ERRORS[this.code].graphql;
  }
}

/** Anything thrown, as the ApiError that a client may see; a fault of ours gets a fixed message. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError('internal_error', 'An internal error occurred.', { cause: thrown });
}

/** The database cannot be reached or answers too late; clients may try again after a second. */
export function serviceUnavailable(cause: unknown): ApiError {
  return new ApiError('service_unavailable', 'The service is temporarily unavailable; try again shortly.', {
    cause,
  });
}

/** How many characters of an input a message quotes at most, in either API. */
export const QUOTED_MAX = 100;
