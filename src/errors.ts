/**
 * THE table of errors that clients see, by the `code` of a REST Error body. `graphql` is GraphQL's `extensions.code`.
 * `retryAfterS` is the default of the `Retry-After` header, in seconds.
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

/** The `code` of a REST Error body. */
export type ErrorCode = keyof typeof ERRORS;

/**
 * An error that a client may see. `message` is public; `cause` goes to the log only. `headers` are response headers,
 * such as `Allow`. Anything thrown that is neither an ApiError nor a DatabaseFault is a fault of the gateway: 500.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    { cause, headers }: { cause?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    const { retryAfterS }: Refusal = ERRORS[code];
    this.headers = { ...(retryAfterS !== undefined && { 'Retry-After': String(retryAfterS) }), ...headers };
  }

  /** The HTTP status. */
  get status(): number {
    return ERRORS[this.code].status;
  }

  /** The `extensions.code` of GraphQL. */
  get graphqlCode(): string {
    return ERRORS[this.code].graphql;
  }
}

/** The meanings of database errors, with the message of each. */
const DATABASE_FAULTS = {
  /** The database cannot be reached, answers too late, or cannot do the work now. */
  unavailable: 'The database cannot be reached, or cannot do this now.',
  /** The servers of the database answer, and none of them takes writes. */
  noWriter: 'No server of the database takes writes.',
  /** A statement is larger than the server takes. Nothing of it was done. */
  tooLarge: 'The database takes no value of this length.',
} as const;

/** An error of the database whose meaning is known; `cause` is the error of the driver or the pool. */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  readonly meaning: keyof typeof DATABASE_FAULTS;

  constructor(meaning: keyof typeof DATABASE_FAULTS, cause?: unknown) {
    super(DATABASE_FAULTS[meaning], cause === undefined ? undefined : { cause });
    this.meaning = meaning;
  }
}

/** Gives the ApiError for anything thrown, with the original error as its cause. Unknown errors get a fixed message. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (!(thrown instanceof DatabaseFault)) {
    return new ApiError('internal_error', 'An internal error occurred.', { cause: thrown });
  }
  const { meaning, message, cause } = thrown;
  return meaning === 'tooLarge' ? new ApiError('payload_too_large', message, { cause }) : serviceUnavailable(cause);
}

/** The ApiError for a part of the service, such as the database, that cannot be reached or answers too late. */
export function serviceUnavailable(cause: unknown): ApiError {
  return new ApiError('service_unavailable', 'The service is temporarily unavailable; try again shortly.', { cause });
}

/** How many characters of an input a message quotes at most, in either API. */
export const QUOTED_MAX = 100;
