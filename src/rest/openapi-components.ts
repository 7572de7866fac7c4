import { ERRORS, type ErrorCode } from '../errors.ts';
import { PET_STATUSES } from '../pets/pet.ts';

/** A piece of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

const INT64 = { type: 'integer', format: 'int64' };
const NEW_PET_PROPERTIES = {
  name: { type: 'string', description: "The animal's name." },
  categoryId: { ...INT64, description: 'Id of the category the animal belongs to.' },
  status: { $ref: '#/components/schemas/PetStatus' },
};

/** The schemas of the API description. */
export const SCHEMAS: Json = {
  PetStatus: { type: 'string', enum: PET_STATUSES, description: 'The availability of an animal.' },
  NewPet: {
    type: 'object',
    description: 'An animal to add. Unknown properties are ignored; null is no valid value.',
    required: ['name', 'categoryId'],
    properties: NEW_PET_PROPERTIES,
  },
  Pet: {
    type: 'object',
    description: 'An animal. `status` is left out when the animal has none.',
    required: ['id', 'name', 'categoryId'],
    properties: {
      id: { ...INT64, description: 'Unique identifier assigned by the service on creation.' },
      ...NEW_PET_PROPERTIES,
    },
  },
  Pets: { type: 'array', description: 'Animals by ascending id.', items: { $ref: '#/components/schemas/Pet' } },
  Error: {
    type: 'object',
    description: 'Every answer of 400 and above.',
    required: ['code', 'message', 'status'],
    additionalProperties: false,
    properties: {
      code: { type: 'string', enum: Object.keys(ERRORS), description: 'Machine-readable error code.' },
      message: { type: 'string', description: 'Human-readable description.' },
      status: { type: 'integer', description: 'The HTTP status code.', minimum: 400, maximum: 599 },
    },
  },
};

/** An animal, as it is sent and as it comes back. */
export const EXAMPLES = {
  newPet: { name: 'Rex', categoryId: 3, status: 'available' },
  pet: { id: 1, name: 'Rex', categoryId: 3, status: 'available' },
} as const;

const text = (description: string, example: string): Json => ({
  description,
  schema: { type: 'string' },
  example,
});

/** Response headers, by their names. */
export const HEADERS: Json = {
  'X-Request-Id': text(
    'Names this request in the log; a valid one that was sent is kept.',
    'd2ad6a1f-2f0c-4a5e-8f0e-1c9f0b1f7f7e',
  ),
  Link: text(
    'Related addresses (RFC 8288): the next page; the replacement of a deprecated operation.',
    '</v1/pets?limit=20&after=20>; rel="next"',
  ),
  Location: text('The address of the new animal.', '/v1/pets/1'),
  Deprecation: text('When the operation became deprecated (RFC 9745).', '@1795132800'),
  Sunset: text('When the operation will be removed (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT'),
  'Idempotency-Replayed': text('Present when an earlier request with this Idempotency-Key made the animal.', 'true'),
  'WWW-Authenticate': text('What is missing or wrong (RFC 6750).', 'Bearer realm="petstore", error="invalid_token"'),
  'Retry-After': text('Seconds to wait before trying again.', '1'),
};

const REFUSALS: Readonly<Partial<Record<ErrorCode, { description: string; message: string; headers?: string[] }>>> = {
  bad_request: {
    description: 'A query parameter or the body is missing required fields or has invalid values.',
    message: 'categoryId must be an integer of 64 bits.',
  },
  unauthorized: {
    description: 'Missing or invalid API key.',
    message: 'The API key is not known.',
    headers: ['WWW-Authenticate'],
  },
  not_found: { description: 'The requested resource could not be found.', message: 'No animal has this id.' },
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
  internal_error: { description: 'A fault of the service.', message: 'An internal error occurred.' },
  service_unavailable: {
    description: 'The service cannot answer now; try again.',
    message: 'The service is temporarily unavailable; try again shortly.',
    headers: ['Retry-After'],
  },
};

/** The Error responses, by their codes. */
export const REFUSAL_RESPONSES: Json = Object.fromEntries(
  Object.entries(REFUSALS).map(([code, { description, message, headers = [] }]) => {
    const { status } = ERRORS[code as ErrorCode]; // REFUSALS has no other keys
    return [
      code,
      { description, headers: headerReferences(headers), content: jsonContent('Error', { code, message, status }) },
    ];
  }),
);

/** References to the headers of these names, and to the one that every response has. */
export function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** JSON content of one of the schemas, with an example. */
export function jsonContent(schema: string, example: unknown): Json {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example } };
}
