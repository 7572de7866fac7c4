import type { Deprecation } from '../deprecations.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { PRODUCT } from '../product.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { type Json, refer } from './leaf-representation.ts';
import type { Operation } from './operation.ts';

/** The body of every refusal. */
export const ERROR_SCHEMA: Json = {
  type: 'object',
  description: 'Every answer of 400 and above.',
  required: ['code', 'message', 'status'],
  additionalProperties: false,
  properties: {
    code: { type: 'string', enum: Object.keys(ERRORS), description: 'Machine-readable error code.' },
    message: { type: 'string', description: 'Human-readable description.' },
    status: { type: 'integer', description: 'The HTTP status code.', minimum: 400, maximum: 599 },
  },
};

const text = (description: string, example: string | undefined): Json => ({
  description,
  schema: { type: 'string' },
  ...(example !== undefined && { example }),
});

/** What the examples of headers are taken from. */
interface HeaderParts {
  readonly basePath: string;
  readonly deprecations: readonly Deprecation[];
  readonly operations: readonly Operation[];
}

/** The names of all response headers that are described. */
type HeaderName = keyof ReturnType<typeof describeHeaders>;

/** Response headers, by their names. */
export function describeHeaders({ basePath, deprecations: [deprecation], operations }: HeaderParts) {
  const { Deprecation, Sunset } = deprecation ? deprecationHeaders(deprecation) : {};
  const list = operations.find(({ isPaged }) => isPaged)?.path ?? '';
  const created = operations.find(({ success }) => success.location)?.success.location ?? '';
  return {
    'X-Request-Id': text(
      'Names this request in the log; a valid one that was sent is kept.',
      'd2ad6a1f-2f0c-4a5e-8f0e-1c9f0b1f7f7e',
    ),
    Link: text(
      'Related addresses (RFC 8288): the next page (`rel="next"`, absent on the last one), or what to use instead of a deprecated operation.',
      `<https://${PRODUCT}.example.com${basePath}${list}?limit=20&after=20>; rel="next"`,
    ),
    Location: text('The path of what was created.', `${basePath}${created.replace(/\{\w+\}/, '1')}`),
    Deprecation: text('When the operation became deprecated (RFC 9745).', Deprecation),
    Sunset: text('When the operation will be removed (RFC 8594).', Sunset),
    'Idempotency-Replayed': text(
      'Present when this is the answer of an earlier request with the same Idempotency-Key.',
      'true',
    ),
    'WWW-Authenticate': text(
      'What is missing or wrong (RFC 6750).',
      `Bearer realm="${PRODUCT}", error="invalid_token"`,
    ),
    'Retry-After': {
      description: 'Seconds to wait before trying again.',
      schema: { type: 'integer', minimum: 0 },
      example: 1,
    },
    'RateLimit-Policy': text(
      'Present where a rate limit is set: how many requests of one API key (`q`) in how many seconds (`w`), https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/',
      '"default";q=600;w=60',
    ),
    RateLimit: text(
      'Present where a rate limit is set: how many requests are left (`r`), and for how many seconds (`t`).',
      '"default";r=599;t=42',
    ),
  } as const satisfies Json;
}

/** A refusal as OpenAPI tells of it; what each operation says of its own is not here. */
interface Refusal {
  readonly description: string;
  readonly message: string;
  readonly headers?: readonly HeaderName[];
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, Refusal>>> = {
  unauthorized: {
    description: 'Missing or invalid API key.',
    message: 'The API key is not known.',
    headers: ['WWW-Authenticate'],
  },
  forbidden: { description: 'The API key may only read.', message: 'This API key may only read.' },
  idempotency_conflict: {
    description: 'A request with the same Idempotency-Key is still at work.',
    message: 'A request with this Idempotency-Key is still at work; try again.',
    headers: ['Retry-After'],
  },
  idempotency_mismatch: {
    description: 'The same Idempotency-Key came with another body before.',
    message: 'This Idempotency-Key was used with another input before.',
  },
  payload_too_large: {
    description: 'The body is larger than the service accepts.',
    message: 'The body must not be larger than 65536 bytes.',
  },
  unsupported_media_type: {
    description: 'The body is not sent as application/json.',
    message: 'The Content-Type must be application/json.',
  },
  too_many_requests: {
    description: 'Too many requests of this API key: its rate limit, or its share of the machine.',
    message: 'Too many requests with this API key; try again later.',
    headers: ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  },
  internal_error: { description: 'A fault of the service.', message: 'An internal error occurred.' },
  service_unavailable: {
    description: 'The service cannot answer now; try again.',
    message: 'The service is temporarily unavailable; try again shortly.',
    headers: ['Retry-After'],
  },
};

/** The Error responses that are the same for every operation, by their codes. */
export const REFUSAL_RESPONSES: Json = Object.fromEntries(
  Object.entries(REFUSALS).map(([code, { description, message, headers }]) => [
    code,
    describeRefusal(code as ErrorCode, description, message, headers), // REFUSALS has no other keys
  ]),
);

/** An Error response with an example. */
export function describeRefusal(
  code: ErrorCode,
  description: string,
  message: string,
  headers: readonly string[] = [],
): Json {
  const example = { code, message, status: ERRORS[code].status };
  return { description, headers: headerReferences(headers), content: jsonContent(refer('Error'), example) };
}

/** References to the headers of these names, and to the one that every response has. */
export function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** JSON content of a schema, with an example. */
export function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}
