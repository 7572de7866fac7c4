import { type Deprecation, isoDay, longDay } from '../deprecations.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { compile } from '../schema/compile.ts';
import { deprecationHeaders } from '../web/deprecation-headers.ts';
import {
  EXAMPLES,
  HEADERS,
  headerReferences,
  type Json,
  jsonContent,
  REFUSAL_RESPONSES,
  SCHEMAS,
} from './openapi-components.ts';
import { BASE_PATH, OPERATIONS, type Operation } from './operations.ts';

/** Where the description is served. */
export const OPENAPI_PATH = `${BASE_PATH}/openapi.json`;

/** The OpenAPI 3.1 description of what is served, made from the table; `baseUrl` has no trailing slash. */
export function openApiDocument(baseUrl: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Petstore API',
      version: '1.0.0',
      description:
        'List, add and fetch the animals of a pet store. Every operation requires an API key as a bearer token. Ids are 64-bit integers: read them with a parser that keeps all digits.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: `${baseUrl}${BASE_PATH}`, description: 'Production' },
      {
        url: '{staging_base_url}',
        description: 'Staging',
        variables: { staging_base_url: { default: `https://staging.example.com${BASE_PATH}` } },
      },
    ],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'pets', description: 'The animals of the store.' }],
    paths: describePaths(),
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer <API_KEY>`.' },
      },
      schemas: SCHEMAS,
      headers: HEADERS,
      responses: REFUSAL_RESPONSES,
    },
  };
}

function describePaths(): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of OPERATIONS) {
    const methods = paths[operation.path] ?? {};
    paths[operation.path] = { ...methods, [operation.method.toLowerCase()]: describeOperation(operation) };
  }
  return paths;
}

function describeOperation(operation: Operation): Json {
  const [deprecation] = compile(operation.document).deprecations;
  const { operationId, summary, description, stability } = operation;
  return {
    operationId,
    summary,
    description: deprecation ? `${description} ${describeDeprecation(deprecation)}` : description,
    tags: ['pets'],
    ...(deprecation && { deprecated: true, 'x-deprecated-sunset': isoDay(deprecation.sunset) }),
    ...(stability && { 'x-stability': stability }),
    parameters: describeParameters(operation),
    ...(operation.hasBody && { requestBody: { required: true, content: jsonContent('NewPet', EXAMPLES.newPet) } }),
    responses: describeResponses(operation, deprecation),
  };
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 24 hours the same API key with the same Idempotency-Key and the same body gets the first answer again, with `Idempotency-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

function describeDeprecation({ sunset, replacement }: Deprecation): string {
  return `Deprecated: removal is scheduled for ${longDay(sunset)}; use ${replacement.rest} instead.`;
}

function describeParameters({ path, query, idempotent }: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'The id of the animal.',
    schema: { type: 'integer', format: 'int64' },
    example: EXAMPLES.pet.id,
  }));
  const inQuery = query.map(({ name, description, schema }) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
  }));
  const inHeader = idempotent ? [IDEMPOTENCY_KEY] : [];
  return [...inPath, ...inQuery, ...inHeader];
}

function describeResponses({ success, refusals }: Operation, deprecation?: Deprecation): Json {
  const headers = [...success.headers, ...Object.keys(deprecation ? deprecationHeaders(deprecation) : {})];
  const example = success.schema === 'Pets' ? [EXAMPLES.pet] : EXAMPLES.pet;
  const codes: ErrorCode[] = [...refusals, 'unauthorized', 'internal_error', 'service_unavailable'];
  const byStatus = codes.sort((a, b) => ERRORS[a].status - ERRORS[b].status);
  return {
    [success.status]: {
      description: success.description,
      headers: headerReferences(headers),
      content: jsonContent(success.schema, example),
    },
    ...Object.fromEntries(byStatus.map((code) => [ERRORS[code].status, { $ref: `#/components/responses/${code}` }])),
  };
}
