import { type Deprecation, deprecationHeaders } from '../deprecations.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { PRODUCT } from '../product.ts';
import type { Operation } from './operation.ts';
import { type Json, refer } from './representation.ts';

/** The schema of every error body. */
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

/** Describes the response headers. The examples are made from the service's deprecation and operations. */
export function describeHeaders(
  basePath: string,
  deprecation: Deprecation | undefined,
  operations: readonly Operation[],
): Json {
  const { Deprecation, Sunset } = deprecation ? deprecationHeaders(deprecation) : {};
  const { path: list = '', examples } = operations.find(({ isPaged }) => isPaged) ?? {};
  const page = Object.entries(examples?.parameters ?? {}).map((parameter) => parameter.join('='));
  const created = operations.find(({ success }) => success.location)?.success.location ?? '';
  const text = (description: string, example: string | undefined) => ({
    description,
    schema: { type: 'string' },
    ...(example !== undefined && { example }),
  });
  return {
    'X-Request-Id': text(
      'Names this request in the log; a valid one that was sent is kept.',
      'd2ad6a1f-2f0c-4a5e-8f0e-1c9f0b1f7f7e',
    ),
    Link: text(
      'Related addresses (RFC 8288): the next page (`rel="next"`, absent on the last one), or what to use instead of a deprecated operation.',
      `<https://${PRODUCT}.example.com${basePath}${list}?${page.join('&')}>; rel="next"`,
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
    Accept: text('Present when the `Content-Type` was wrong: the one that is taken (RFC 9110).', 'application/json'),
    'Accept-Encoding': text(
      'Present when the body had a `Content-Encoding`: it is to have none (RFC 9110).',
      'identity',
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
  };
}

/** References to the named headers and to X-Request-Id, which every response has. */
export function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Describes JSON content. */
export function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

/** Describes an Error response with an example. `headers` are the names of its response headers. */
export function describeRefusal(code: ErrorCode, description: string, message?: string, ...headers: string[]): Json {
  const example = { code, message, status: ERRORS[code].status };
  return { description, headers: headerReferences(headers), content: jsonContent(refer('Error'), example) };
}

const REFUSALS: readonly (readonly [code: ErrorCode, message: string, ...headers: string[]])[] = [
  ['unauthorized', 'The API key is not known.', 'WWW-Authenticate'],
  ['forbidden', 'This API key may only read.'],
  ['idempotency_conflict', 'A request with this Idempotency-Key is still at work; try again.', 'Retry-After'],
  ['idempotency_mismatch', 'This Idempotency-Key was used with another input before.'],
  ['payload_too_large', 'The body must not be larger than 65536 bytes.'],
  ['unsupported_media_type', 'The Content-Type must be application/json.', 'Accept', 'Accept-Encoding'],
  [
    'too_many_requests',
    'Too many requests with this API key; try again later.',
    'Retry-After',
    'RateLimit-Policy',
    'RateLimit',
  ],
  ['internal_error', 'An internal error occurred.'],
  ['service_unavailable', 'The service is temporarily unavailable; try again shortly.', 'Retry-After'],
];

/** The Error responses that are the same for all operations, by their codes. */
export const REFUSAL_RESPONSES: Json = Object.fromEntries(
  REFUSALS.map(([code, ...shown]) => [code, describeRefusal(code, ERRORS[code].meaning, ...shown)]),
);
