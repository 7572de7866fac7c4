import { type Deprecation, deprecationHeaders } from '../deprecations.ts';
import { ERRORS } from '../errors.ts';
import { PRODUCT } from '../product.ts';
import type { Operation, RestService } from './operation.ts';
import { type AnswerDescription, type OperationDescription, SHARED_REFUSALS } from './operation-description.ts';
import type { Json, Schemas } from './representation.ts';

/** The schema of every error body. */
export const ERROR_SCHEMA: Json = {
  type: 'object',
  description: 'Every answer of 400 and above.',
  required: ['code', 'message', 'status'],
  properties: {
    // No enum: clients that generators make would refuse a later code, and lose its message.
    code: {
      type: 'string',
      description: `Machine-readable error code: ${Object.keys(ERRORS).join(', ')}. Others may be added.`,
    },
    message: { type: 'string', description: 'Human-readable description.' },
    status: { type: 'integer', description: 'The HTTP status code.', minimum: 400, maximum: 599 },
  },
};

/** Creates a function that makes the OpenAPI 3.1 document for a base address without a trailing slash. */
export function createOpenApi(
  { api, basePath, resources, deprecations }: RestService,
  operations: readonly (Operation & OperationDescription)[],
  schemas: Schemas,
  publicPath: string,
): (baseUrl: string) => Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: writeOperation(operation) };
  }
  const components = {
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer <API_KEY>`.' },
    },
    schemas,
    headers: describeHeaders(publicPath + basePath, deprecations[0], operations),
    responses: Object.fromEntries(SHARED_REFUSALS.map((refusal) => [refusal.sharedCode, writeAnswer(refusal)])),
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

function writeOperation(operation: Operation & OperationDescription): Json {
  const { operationId, summary, description, stability, tag, deprecation, parameters, body, answers } = operation;
  const statuses = answers.map((answer) => {
    const { status, sharedCode } = answer;
    return [status, sharedCode ? { $ref: `#/components/responses/${sharedCode}` } : writeAnswer(answer)];
  });
  return {
    operationId,
    summary,
    description: deprecation ? `${description} Deprecated: ${deprecation.notice}` : description,
    tags: [tag],
    ...(deprecation && { deprecated: true, 'x-deprecated-sunset': deprecation.sunset.toISOString().slice(0, 10) }),
    ...(stability && { 'x-stability': stability }),
    parameters: parameters.map(({ reference, schema: _whole, example, ...parameter }) => ({
      ...parameter,
      schema: reference,
      example,
    })),
    ...(body && { requestBody: { required: true, content: jsonContent(body.reference, body.example) } }),
    responses: Object.fromEntries(statuses),
  };
}

function writeAnswer({ description, headers, content }: AnswerDescription): Json {
  const references = headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return {
    description,
    headers: Object.fromEntries(references),
    ...(content && { content: jsonContent(content.schema, content.example) }),
  };
}

function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

/** Describes the response headers. The examples are made from the service's deprecation and operations. */
function describeHeaders(
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
