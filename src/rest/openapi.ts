import { isDeepStrictEqual } from 'node:util';
import { longDay } from '../deprecations.ts';
import { ApiError, ERRORS, type ErrorCode } from '../errors.ts';
import { IDEMPOTENCY_KEY } from '../schema/context.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import { refuseText } from './input-refusals.ts';
import {
  describeHeaders,
  describeRefusal,
  ERROR_SCHEMA,
  headerReferences,
  jsonContent,
  REFUSAL_RESPONSES,
} from './openapi-components.ts';
import type { Operation, Parameter, RestService } from './operation.ts';
import type { Json } from './representation.ts';

/**
 * Creates a function that makes the OpenAPI 3.1 document for a base address without a trailing slash. Throws Error, which
 * stops the start, when two operations have different schemas with the same name.
 */
export function createOpenApi(
  { api, basePath, resources, deprecations }: RestService,
  operations: readonly Operation[],
): (baseUrl: string) => Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation) };
  }
  const components = {
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer <API_KEY>`.' },
    },
    schemas: collectSchemas(operations),
    headers: describeHeaders(basePath, deprecations[0], operations),
    responses: REFUSAL_RESPONSES,
  };
  return (baseUrl) => ({
    openapi: '3.1.0',
    info: { ...api, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [
      { url: `${baseUrl}${basePath}`, description: 'Production' },
      {
        url: '{staging_base_url}',
        description: 'Staging',
        variables: { staging_base_url: { default: `https://staging.example.com${basePath}` } },
      },
    ],
    security: [{ bearerAuth: [] }],
    tags: resources.map(({ table, description }) => ({ name: table.name, description })),
    paths,
    components,
  });
}

function collectSchemas(operations: readonly Operation[]): Json {
  const schemas: Record<string, unknown> = { Error: ERROR_SCHEMA };
  const parts = operations.flatMap(({ inPath, inQuery, body, answer, hasContent }) => [
    ...[...inPath, ...inQuery].map(({ leaf }) => leaf.components),
    body?.components ?? {},
    hasContent ? answer.components : {},
  ]);
  for (const [name, schema] of parts.flatMap((part) => Object.entries(part))) {
    if (name in schemas && !isDeepStrictEqual(schemas[name], schema)) {
      throw new Error(`The documents of the table give ${name} in two forms.`);
    }
    schemas[name] = schema;
  }
  return schemas;
}

/** Describes an operation as an Operation Object of OpenAPI. */
export function describeOperation(operation: Operation): Json {
  const { operationId, summary, description, stability, tag, body, examples, isPaged } = operation;
  const { inPath, inQuery, isIdempotent } = operation;
  const [deprecation] = operation.deprecations;
  const sentences = [description];
  if (isPaged) sentences.push('When more follow, the `Link` header (RFC 8288) holds the address of the next page.');
  if (deprecation) {
    const { sunset, replacement } = deprecation;
    sentences.push(`Deprecated: removal is scheduled for ${longDay(sunset)}; use ${replacement.rest} instead.`);
  }
  return {
    operationId,
    summary,
    description: sentences.join(' '),
    tags: [tag],
    ...(deprecation && { deprecated: true, 'x-deprecated-sunset': deprecation.sunset.toISOString().slice(0, 10) }),
    ...(stability && { 'x-stability': stability }),
    parameters: [
      ...inPath.map((parameter) => describeParameter(parameter, 'path', examples.parameters)),
      ...inQuery.map((parameter) => describeParameter(parameter, 'query', examples.parameters)),
      ...(isIdempotent ? [IDEMPOTENCY_PARAMETER] : []),
    ],
    ...(body && { requestBody: { required: true, content: jsonContent(body.schema, examples.body) } }),
    responses: describeResponses(operation),
  };
}

const IDEMPOTENCY_PARAMETER: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 24 hours the same API key with the same Idempotency-Key and the same body gets the first answer again, with `Idempotency-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY.most, pattern: IDEMPOTENCY_KEY.pattern.source },
  example: '5f0c1a52-8f0e-4c5b-9a4e-6d1f0b8c7e21',
};

function describeParameter(
  { name, argument: { description, defaultValue }, leaf, isRequired }: Parameter,
  location: 'path' | 'query',
  examples: Json = {},
): Json {
  return {
    name,
    in: location,
    required: isRequired,
    ...(description && { description }),
    schema: { ...leaf.schema, ...(defaultValue !== undefined && { default: JSON.parse(leaf.write(defaultValue)) }) },
    ...(name in examples && { example: examples[name] }),
  };
}

function describeResponses(operation: Operation): Json {
  const { success, answer, examples, isPaged, isIdempotent, hasContent, deprecations } = operation;
  const headers = [
    ...(isPaged ? ['Link'] : []),
    ...(success.location ? ['Location'] : []),
    ...(isIdempotent ? ['Idempotency-Replayed'] : []),
    'RateLimit-Policy',
    'RateLimit',
    ...(deprecations[0] ? Object.keys(deprecationHeaders(deprecations[0])) : []),
  ];
  const own = describeOwnRefusals(operation);
  const refusals = refusalsOf(operation).map((code): [number, Json] => [
    ERRORS[code].status,
    own[code] ?? { $ref: `#/components/responses/${code}` },
  ]);
  return {
    [success.status]: {
      description: success.description,
      headers: headerReferences(headers),
      ...(hasContent && { content: jsonContent(answer.schema, examples.answer) }),
    },
    ...Object.fromEntries(refusals), // integer keys are in ascending order
  };
}

/** The error codes of an operation. */
function refusalsOf({ inQuery, body, isMutation, isIdempotent, notFound }: Operation): readonly ErrorCode[] {
  const when = (condition: unknown, ...codes: ErrorCode[]) => (condition ? codes : []);
  return [
    ...when(inQuery.length > 0 || body || isIdempotent, 'bad_request'),
    ...when(isMutation, 'forbidden'),
    ...when(notFound !== undefined, 'not_found'),
    ...when(body, 'payload_too_large', 'unsupported_media_type'),
    ...when(isIdempotent, 'idempotency_conflict', 'idempotency_mismatch'),
    ...when(true, 'unauthorized', 'too_many_requests', 'internal_error', 'service_unavailable'),
  ];
}

/** The error responses whose messages depend on the operation: invalid body or query, and not found. */
function describeOwnRefusals(operation: Operation): Partial<Record<ErrorCode, Json>> {
  const { body, inQuery, notFound = '' } = operation;
  const ofNone = body && refusalOf(() => body.readJson({}, ''));
  // The first query parameter that is a number or an enum: a free text cannot be invalid.
  const limited = inQuery.find(({ leaf }) => leaf.schema.type !== 'string');
  const ofQuery =
    limited && refuseText(limited.leaf, limited.name, Number(limited.leaf.schema.minimum) > 0 ? '0' : 'x').message;
  const ofBody = body && (ofNone ?? refusalOf(() => body.readJson([], '')));
  const description = body
    ? `The body ${ofNone === undefined ? '' : 'is missing required fields or '}has invalid values.`
    : 'A query parameter has an invalid value. An addition to the original description: an answer other than the one that was asked for would hide the mistake.';
  return {
    bad_request: describeRefusal('bad_request', description, ofBody ?? ofQuery ?? IDEMPOTENCY_KEY.message),
    not_found: describeRefusal('not_found', ERRORS.not_found.meaning, notFound),
  };
}

/** The message of the ApiError that `read` throws; undefined when it throws none. */
function refusalOf(read: () => unknown): string | undefined {
  try {
    read();
  } catch (refusal) {
    if (refusal instanceof ApiError) return refusal.message;
  }
  return undefined;
}
