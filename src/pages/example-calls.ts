import { ERRORS } from '../errors.ts';
import {
  answersOf,
  type JsonContent,
  jsonOf,
  type OpenApi,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  parametersOf,
  resolve,
  resultOf,
  type Schema,
} from './openapi-reader.ts';

/** The calls that samples make, of whichever service. */
export interface ExampleCalls {
  /** The first list that comes in pages. */
  readonly list: {
    readonly path: string;
    /** How many items a page has at most. */
    readonly limitMax: unknown;
    /** The body of the refusal of a wrong parameter. */
    readonly refusal: unknown;
  };
  /** The first create that is safe to repeat, with the shortest body that it takes; undefined where a service has none. */
  readonly create: { readonly path: string; readonly bodyJson: string } | undefined;
  /** The names of the 64-bit integers in answers. */
  readonly int64Names: readonly string[];
}

/** Finds the calls in an OpenAPI document. Throws an error that stops the start when there is no list to show. */
export function findExampleCalls(document: OpenApi, basePath: string): ExampleCalls {
  const operations = operationsOf(document);
  const plain = operations.filter(({ path }) => !path.includes('{'));
  const list = plain.map((placed) => readList(document, basePath, placed)).find((found) => found !== undefined);
  if (!list) throw new Error('The pages need a list with a limit for their samples: the service has none.');
  return {
    list,
    create: plain.map((placed) => readCreate(document, basePath, placed)).find((found) => found !== undefined),
    int64Names: [
      ...new Set(operations.flatMap(({ operation }) => int64Names(document, resultOf(document, operation)))),
    ],
  };
}

function readList(document: OpenApi, basePath: string, { path, operation }: PlacedOperation) {
  const limit = parameterOf(document, operation, 'query', 'limit');
  const result = resultOf(document, operation);
  if (!limit || !result || !resolve<Schema>(document, result.schema).items) return undefined;
  const { status: badRequest } = ERRORS.bad_request;
  const [, refusal] = answersOf(document, operation).find(([status]) => status === String(badRequest)) ?? [];
  return {
    path: basePath + path,
    limitMax: resolve<Schema>(document, limit.schema).maximum,
    refusal: jsonOf(refusal)?.example ?? {},
  };
}

function readCreate(document: OpenApi, basePath: string, { path, operation }: PlacedOperation) {
  const body = jsonOf(operation.requestBody);
  if (!body || !parameterOf(document, operation, 'header', 'Idempotency-Key')) return undefined;
  const { required = [] } = resolve<Schema>(document, body.schema);
  const needed = Object.entries(body.example ?? {}).filter(([name]) => required.includes(name));
  return { path: basePath + path, bodyJson: JSON.stringify(Object.fromEntries(needed)) };
}

function parameterOf(
  document: OpenApi,
  operation: PlacedOperation['operation'],
  place: string,
  name: string,
): Parameter | undefined {
  return parametersOf(document, operation).find((parameter) => parameter.in === place && parameter.name === name);
}

function int64Names(document: OpenApi, result: JsonContent | undefined): string[] {
  if (!result) return [];
  const schema = resolve<Schema>(document, result.schema);
  const { properties = {} } = resolve<Schema>(document, schema.items ?? schema);
  return Object.entries(properties)
    .filter(([, property]) => resolve<Schema>(document, property).format === 'int64')
    .map(([name]) => name);
}
