import { isDeepStrictEqual } from 'node:util';
import { keepRecent } from '../recent.ts';
import type { Json } from './leaf-representation.ts';
import { ERROR_SCHEMA, HEADERS, REFUSAL_RESPONSES } from './openapi-components.ts';
import { describeOperation } from './openapi-operation.ts';
import { BASE_PATH, OPERATIONS, RESOURCES } from './operations.ts';

/** Where the description is served. */
export const OPENAPI_PATH = `${BASE_PATH}/openapi.json`;

/** Texts that are kept, and the length of a base address for which one is. */
const TEXTS_MAX = 16;
const ADDRESS_MAX = 300;

/** Gives the description as JSON, made once for each base address that is asked for lately. */
export function createOpenApiText(): (baseUrl: string) => string {
  const texts = keepRecent<string>(TEXTS_MAX);
  return (baseUrl) => {
    const known = texts.get(baseUrl);
    if (known !== undefined) return known;
    const text = JSON.stringify(openApiDocument(baseUrl));
    if (baseUrl.length <= ADDRESS_MAX) texts.set(baseUrl, text);
    return text;
  };
}

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
    tags: RESOURCES.map(({ tag, description }) => ({ name: tag, description })),
    paths: PATHS,
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

const PATHS = describePaths();
const SCHEMAS = collectSchemas();

function describePaths(): Json {
  const paths: Record<string, Json> = {};
  for (const operation of OPERATIONS) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: describeOperation(operation) };
  }
  return paths;
}

/** The named schemas of all operations. Throws an error that stops the start when two documents mean different ones. */
function collectSchemas(): Json {
  const schemas: Record<string, unknown> = { Error: ERROR_SCHEMA };
  const parts = OPERATIONS.flatMap(({ inPath, inQuery, body, answer }) => [
    ...[...inPath, ...inQuery].map(({ leaf }) => leaf.components),
    body?.components ?? {},
    answer.components,
  ]);
  for (const [name, schema] of parts.flatMap((part) => Object.entries(part))) {
    if (name in schemas && !isDeepStrictEqual(schemas[name], schema)) {
      throw new Error(`The documents of the table give ${name} in two forms.`);
    }
    schemas[name] = schema;
  }
  return schemas;
}
