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

/**
 * A refusal that a client may see. `message` is public; `cause`, the fault behind it, goes to the log only. `headers` belong
 * to the refusal, such as `Allow`. Everything thrown that is neither an ApiError nor a DatabaseFault is a fault of ours.
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

  /** The HTTP status of the refusal. */
  get status(): number {
    return ERRORS[this.code].status;
  }

  /** The GraphQL `extensions.code` of the refusal. */
  get graphqlCode(): string {
    return ERRORS[this.code].graphql;
  }
}

/** What an error of the database means. */
const DATABASE_FAULTS = {
  /** It cannot be reached, answers too late, or cannot do this now. */
  unavailable: 'The database cannot be reached, or cannot do this now.',
  /** The same: its servers answer, and none of them takes writes. */
  noWriter: 'No server of the database takes writes.',
  /** A statement is larger than it takes, and nothing of it was done. */
  tooLarge: 'The database takes no value of this length.',
} as const;

/** What the database throws for an error whose meaning it knows; `cause` is the driver's or the pool's own error. */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  readonly meaning: keyof typeof DATABASE_FAULTS;

  constructor(meaning: keyof typeof DATABASE_FAULTS, cause?: unknown) {
    super(DATABASE_FAULTS[meaning], cause === undefined ? undefined : { cause });
    this.meaning = meaning;
  }
}

/** Anything thrown, as the ApiError that a client may see, with the error behind it as the cause; a fault of ours gets a fixed message. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (!(thrown instanceof DatabaseFault)) {
    return new ApiError('internal_error', 'An internal error occurred.', { cause: thrown });
  }
  const { meaning, message, cause } = thrown;
  return meaning === 'tooLarge' ? new ApiError('payload_too_large', message, { cause }) : serviceUnavailable(cause);
}

/** Something that the service needs cannot be reached or answers too late; clients may try again after a second. */
export function serviceUnavailable(cause: unknown): ApiError {
  return new ApiError('service_unavailable', 'The service is temporarily unavailable; try again shortly.', { cause });
}

/** How many characters of an input a message quotes at most, in either API. */
export const QUOTED_MAX = 100;
