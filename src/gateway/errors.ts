/**
 * THE table of errors that clients see, by the `code` of a REST Error body. `graphql` is GraphQL's `extensions.code`,
 * `meaning` what documents say of it. `retryAfterS` is the default of the `Retry-After` header, in seconds.
 */
export const ERRORS = {
  bad_request: refusal(400, 'BAD_USER_INPUT', 'A value, a header or the body is not allowed: the message names it.'),
  unauthorized: refusal(401, 'UNAUTHENTICATED', 'Missing or invalid API key.'),
  forbidden: refusal(403, 'FORBIDDEN', 'The API key may only read.'),
  not_found: refusal(404, 'BAD_USER_INPUT', 'The requested resource could not be found.'),
  method_not_allowed: refusal(405, 'BAD_USER_INPUT', 'The path has other methods: see `Allow`.'),
  idempotency_conflict: refusal(
    409,
    'IDEMPOTENCY_CONFLICT',
    'A request with the same Idempotency-Key is still at work.',
    1,
  ),
  payload_too_large: refusal(413, 'PAYLOAD_TOO_LARGE', 'The body is larger than the service accepts.'),
  unsupported_media_type: refusal(415, 'BAD_USER_INPUT', 'The body is not sent as application/json.'),
  idempotency_mismatch: refusal(422, 'IDEMPOTENCY_MISMATCH', 'The same Idempotency-Key came with another body before.'),
  too_many_requests: refusal(
    429,
    'TOO_MANY_REQUESTS',
    'Too many requests of this API key: its rate limit, or its share of the machine.',
    1,
  ),
  internal_error: refusal(500, 'INTERNAL_SERVER_ERROR', 'A fault of the service.'),
  service_unavailable: refusal(503, 'SERVICE_UNAVAILABLE', 'The service cannot answer now; try again.', 1),
} as const;

function refusal(status: number, graphql: string, meaning: string, retryAfterS?: number) {
  return { status, graphql, meaning, retryAfterS } as const;
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
  readonly status: number;
  readonly graphqlCode: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; headers?: Readonly<Record<string, string>>; graphqlCode?: string } = {},
  ) {
    const { status, graphql, retryAfterS } = ERRORS[code];
    const { cause, headers, graphqlCode = graphql } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.graphqlCode = graphqlCode;
    this.headers = { ...(retryAfterS !== undefined && { 'Retry-After': String(retryAfterS) }), ...headers };
  }
}

/** The meanings of database errors, each with what the database does. */
const DATABASE_FAULTS = {
  unavailable: 'cannot be reached, or cannot do this now',
  noWriter: 'has no server that takes writes',
  /** A statement is larger than the server takes. Nothing of it was done. */
  tooLarge: 'takes no value of this length',
  accessDenied: 'refuses the account',
  unknownDatabase: 'does not exist',
  /** The server, or the way to it, is not as DATABASE_URL demands. */
  untrusted: 'is not trusted',
  /** The schema or the file is not as a statement needs it. */
  unusable: 'cannot be used as it is',
} as const;

/** An error of the database whose meaning is known; `cause` is the error of the driver or the pool. */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  readonly meaning: keyof typeof DATABASE_FAULTS;
  /** The end of a sentence about the database. */
  readonly does: string;

  constructor(meaning: keyof typeof DATABASE_FAULTS, cause?: unknown) {
    const does = DATABASE_FAULTS[meaning];
    super(`The database ${does}.`, cause === undefined ? undefined : { cause });
    this.meaning = meaning;
    this.does = does;
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
