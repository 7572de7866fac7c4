import { deprecationHeaders, longDay } from '../deprecations.ts';
import { ApiError, ERRORS, type ErrorCode } from '../errors.ts';
import { IDEMPOTENCY_KEY } from '../schema/context.ts';
import { textRefusal } from './input-refusals.ts';
import {
  describeHeaders,
  describeRefusal,
  headerReferences,
  jsonContent,
  REFUSAL_RESPONSES,
} from './openapi-components.ts';
import type { Operation, Parameter, RestService } from './operation.ts';
import type { Json, Schemas } from './representation.ts';

/** Creates a function that makes the OpenAPI 3.1 document for a base address without a trailing slash. */
export function createOpenApi(
  { api, basePath, resources, deprecations }: RestService,
  operations: readonly Operation[],
  schemas: Schemas,
  publicPath: string,
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
    schemas,
    headers: describeHeaders(publicPath + basePath, deprecations[0], operations),
    responses: REFUSAL_RESPONSES,
  };
  return (baseUrl) => ({
    openapi: '3.1.0',
    info: {
      ...api,
      contact: { name: 'Whoever runs the gateway', url: `${baseUrl}/` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
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

/** Describes an operation as an Operation Object of OpenAPI. */
export function describeOperation(operation: Operation): Json {
  const { operationId, summary, description, stability, tag, body, examples } = operation;
  const { pathParams, queryParams, isPaged, isIdempotent } = operation;
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
      ...pathParams.map((parameter) => describeParameter(parameter, 'path')),
      ...queryParams.map((parameter) => describeParameter(parameter, 'query')),
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
    'Makes retries safe: for 24 hours the same API key with the same Idempotency-Key and the same body gets the first answer again, with `Idempotency-Replayed: true`. Each create has its own, such as `5f0c1a52-8f0e-4c5b-9a4e-6d1f0b8c7e21`.',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.pattern.source },
};

/** Describes a parameter. Tools send an `example` by themselves: that of an optional parameter stands in its description. */
function describeParameter(parameter: Parameter, place: 'path' | 'query'): Json {
  const { name, argument, leaf, isRequired, example } = parameter;
  const form = isRequired || example === undefined ? '' : `Such as \`${example}\`.`;
  const description = [argument.description, form].filter(Boolean).join(' ');
  const { defaultValue } = argument;
  const bounds = defaultValue === undefined ? {} : { default: JSON.parse(leaf.write(defaultValue)) };
  const schema = { ...leaf.schema, ...bounds };
  const described = { name, in: place, required: isRequired, ...(description && { description }), schema };
  return isRequired ? { ...described, example } : described;
}

/** Describes the responses of an operation by status, in ascending order: that is JavaScript's order of integer keys. */
function describeResponses(operation: Operation): Json {
  const { success, answer, examples, queryParams, body, notFound, isMutation, isPaged, isIdempotent } = operation;
  const [deprecation] = operation.deprecations;
  const headers = [
    ...(isPaged ? ['Link'] : []),
    ...(success.location ? ['Location'] : []),
    ...(isIdempotent ? ['Idempotency-Replayed'] : []),
    'RateLimit-Policy',
    'RateLimit',
    ...(deprecation ? Object.keys(deprecationHeaders(deprecation)) : []),
  ];
  const shared = (...codes: ErrorCode[]): Json =>
    Object.fromEntries(codes.map((code) => [ERRORS[code].status, { $ref: `#/components/responses/${code}` }]));
  return {
    [success.status]: {
      description: success.description,
      headers: headerReferences(headers),
      ...(answer && { content: jsonContent(answer, examples.answer) }),
    },
    ...((queryParams.length > 0 || body || isIdempotent) && { 400: describeBadRequest(operation) }),
    ...(isMutation && shared('forbidden')),
    ...(notFound !== undefined && { 404: describeRefusal('not_found', ERRORS.not_found.meaning, notFound) }),
    ...(body && shared('payload_too_large', 'unsupported_media_type')),
    ...(isIdempotent && shared('idempotency_conflict', 'idempotency_mismatch')),
    ...shared('unauthorized', 'too_many_requests', 'internal_error', 'service_unavailable'),
  };
}

/** Describes the 400 of an operation. The example message is a real one: it comes from reading an invalid input. */
function describeBadRequest({ body, queryParams }: Operation): Json {
  if (body) {
    const messageOfEmpty = refusalOf(() => body.readJson({}, ''));
    const missing = messageOfEmpty === undefined ? '' : 'is missing required fields or ';
    const message = messageOfEmpty ?? refusalOf(() => body.readJson([], ''));
    return describeRefusal('bad_request', `The body ${missing}has invalid values.`, message);
  }
  if (queryParams.length === 0)
    return describeRefusal('bad_request', 'The Idempotency-Key is not valid.', IDEMPOTENCY_KEY.message);
  const description =
    'A query parameter has an invalid value. An addition to the original description: an answer other than the one that was asked for would hide the mistake.';
  // The first query parameter that can be invalid: not a free text, but a number or an enum (its schema is a reference).
  const found = queryParams.find(({ leaf }) => leaf.schema.type !== 'string');
  const message =
    found && textRefusal(found.leaf, found.name, Number(found.leaf.schema.minimum) > 0 ? '0' : 'x').message;
  return describeRefusal('bad_request', description, message ?? IDEMPOTENCY_KEY.message);
}

/** The message of the ApiError that `read` throws; undefined if it throws none. */
function refusalOf(read: () => unknown): string | undefined {
  try {
    read();
  } catch (refusal) {
    if (refusal instanceof ApiError) return refusal.message;
  }
  return undefined;
}
