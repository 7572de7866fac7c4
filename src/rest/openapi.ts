import { isDeepStrictEqual } from 'node:util';
import type { Deprecation } from '../deprecations.ts';
import { createLruCache } from '../lru-cache.ts';
import type { Json } from './leaf-representation.ts';
import { describeHeaders, ERROR_SCHEMA, REFUSAL_RESPONSES } from './openapi-components.ts';
import { describeOperation } from './openapi-operation.ts';
import type { Operation } from './operation.ts';

/** What the description is made of. */
export interface OpenApiParts {
  readonly api: { readonly title: string; readonly version: string; readonly description: string };
  readonly basePath: string;
  readonly resources: readonly { readonly table: { readonly name: string }; readonly description: string }[];
  readonly deprecations: readonly Deprecation[];
  readonly operations: readonly Operation[];
}

/** The OpenAPI 3.1 description of what is served; base addresses have no trailing slash. */
export interface OpenApi {
  /** Where it is served. */
  readonly openApiPath: string;
  openApiDocument(baseUrl: string): Json;
  /** As JSON, made once for each base address that was asked for lately. */
  openApiText(baseUrl: string): string;
}

/** Texts that are kept, and the length of a base address for which one is. */
const TEXTS_MAX = 16;
const ADDRESS_MAX = 300;

/** The description of the operations of a service. Throws an error that stops the start when two of them mean different schemas. */
export function createOpenApi({ api, basePath, resources, deprecations, operations }: OpenApiParts): OpenApi {
  const paths = describePaths(operations);
  const schemas = collectSchemas(operations);
  const headers = describeHeaders({ basePath, deprecations, operations });
  const texts = createLruCache<string>(TEXTS_MAX);

  const openApiDocument = (baseUrl: string): Json => ({
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
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer <API_KEY>`.' },
      },
      schemas,
      headers,
      responses: REFUSAL_RESPONSES,
    },
  });

  return {
    openApiPath: `${basePath}/openapi.json`,
    openApiDocument,
    openApiText(baseUrl) {
      const known = texts.get(baseUrl);
      if (known !== undefined) return known;
      const text = JSON.stringify(openApiDocument(baseUrl));
      if (baseUrl.length <= ADDRESS_MAX) texts.set(baseUrl, text);
      return text;
    },
  };
}

function describePaths(operations: readonly Operation[]): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: describeOperation(operation) };
  }
  return paths;
}

/** The named schemas of all operations. Throws an error that stops the start when two documents mean different ones. */
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
