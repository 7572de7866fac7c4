import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { Answer } from '../support/client.ts';
import { openApiDocument } from '../support/petstore-api.ts';

/** THE table of CONTRACT section 3: which code an Error of a status has. */
const CODES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'idempotency_conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'idempotency_mismatch',
  429: 'too_many_requests',
  500: 'internal_error',
  503: 'service_unavailable',
};

/** Headers of HTTP, of the connection and of every answer: the document lists none of them. */
const NOT_LISTED = [
  ...['cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
  ...['vary', 'x-content-type-options'],
];

/** A part of the document, as far as this file reads it. */
interface Part {
  readonly [name: string]: Part | string | undefined;
}

const document = openApiDocument('http://petstore.example') as Part;
const ajv = new Ajv2020({ strict: false, allErrors: true });
// CommonJS: TypeScript sees the module, Node gives the function.
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: 'openapi', ...document });

const escapePointer = (name: string) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));

/** The part of the document under these names, and where it stands; references are followed. */
function find(...names: readonly string[]): { part: Part; pointer: string } | undefined {
  let part = document;
  let pointer = '#';
  for (const name of names) {
    const next = part[name];
    if (typeof next !== 'object') return undefined;
    pointer = typeof next.$ref === 'string' ? next.$ref : `${pointer}/${escapePointer(name)}`;
    part = typeof next.$ref === 'string' ? (find(...next.$ref.slice(2).split('/'))?.part ?? {}) : next;
  }
  return { part, pointer };
}

function expectValid(pointer: string, value: unknown): void {
  const validate = ajv.compile({ $ref: `openapi${pointer}` });
  expect(validate(value) ? [] : validate.errors, `${JSON.stringify(value)?.slice(0, 200)} against ${pointer}`).toEqual(
    [],
  );
}

/** Every integer is written out, and fits into 64 bits: ajv would see only what JSON.parse makes of it. */
function expectExactIntegers(text: string): void {
  JSON.parse(text, (_name, value, context?: { source?: string }) => {
    if (typeof value !== 'number') return value;
    expect(context?.source).toMatch(/^(0|-?[1-9]\d*)$/);
    expect(String(BigInt.asIntN(64, BigInt(context?.source ?? '')))).toBe(context?.source);
  });
}

function expectError({ status, json }: Answer): void {
  expectValid('#/components/schemas/Error', json);
  expect(json).toEqual({ code: CODES[status], message: expect.stringMatching(/^[^\n]{5,300}$/), status });
  expect(json.message).not.toMatch(/\.ts\b|node_modules|petstore_|select |insert /i);
}

/** Every answer of a path that is not GraphQL: the Error body, the headers, and what the OpenAPI document says. */
export function expectConformance(method: string, address: string, answer: Answer): void {
  const { status, headers, text } = answer;
  expect(headers.get('x-request-id')).toMatch(/^[\w.:/+=@-]{1,128}$/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const hasBody = method !== 'HEAD' && status !== 204;
  if (hasBody) expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  if (hasBody && status >= 400) expectError(answer);

  const path = address
    .replace(/^\/v1/, '')
    .replace(/\?.*$/, '')
    .replace(/^\/pets\/[^/]+$/, '/pets/{petId}');
  const operation = ['paths', path, (method === 'HEAD' ? 'GET' : method).toLowerCase()];
  if (!address.startsWith('/v1/') || find(...operation) === undefined) return;
  const response = [...operation, 'responses', String(status)];
  expect(find(...response), `${method} ${address} answers ${status}, which the document does not list`).toBeDefined();
  const listed = Object.keys(find(...response, 'headers')?.part ?? {});
  const known = new Set([...listed.map((name) => name.toLowerCase()), ...NOT_LISTED]);
  expect([...headers.keys()].filter((name) => !known.has(name) && !name.startsWith('access-control-'))).toEqual([]);
  for (const name of listed) {
    const schema = find(...response, 'headers', name, 'schema');
    const value = headers.get(name);
    if (schema && value !== null) expectValid(schema.pointer, schema.part.type === 'integer' ? Number(value) : value);
  }
  if (!hasBody) return;
  const schema = find(...response, 'content', 'application/json', 'schema');
  expect(schema).toBeDefined();
  if (schema) expectValid(schema.pointer, answer.json);
  expectExactIntegers(text);
}
