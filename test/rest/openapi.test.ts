import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it, test } from 'vitest';
import { ERRORS } from '../../src/gateway/errors.ts';
import { shareLimitsOf } from '../../src/gateway/http/admission.ts';
import { addSamples } from '../../src/gateway/store/store.ts';
import { PET_STATUSES } from '../../src/petstore/pets/pet.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { SQLITE } from '../support/engines.ts';
import { OPERATIONS } from '../support/petstore-api.ts';
import { useGateway } from './checked-gateway.ts';

/** What `path` names in the document; references are not followed. */
const at = (document: any, ...path: string[]) => path.reduce((part, name) => part?.[name], document);

const INT64 = { type: 'integer', format: 'int64' };

/** All that the original description says, as the place in the document where it must stand. */
const DESCRIPTION: readonly (readonly [what: string, path: readonly string[], value: unknown])[] = [
  ['the version of the description', ['info', 'version'], '1.0.0'],
  ['bearer authentication', ['components', 'securitySchemes', 'bearerAuth'], { type: 'http', scheme: 'bearer' }],
  ['the whole API needs it', ['security'], [{ bearerAuth: [] }]],
  ['listPets', ['paths', '/pets', 'get', 'operationId'], 'listPets'],
  ['createPet', ['paths', '/pets', 'post', 'operationId'], 'createPet'],
  ['getPet', ['paths', '/pets/{petId}', 'get', 'operationId'], 'getPet'],
  ['getPet is deprecated', ['paths', '/pets/{petId}', 'get', 'deprecated'], true],
  ['until when', ['paths', '/pets/{petId}', 'get', 'x-deprecated-sunset'], '2030-12-05'],
  ['the body of createPet', ['paths', '/pets', 'post', 'requestBody', 'required'], true],
  ['the words of PetStatus', ['components', 'schemas', 'PetStatus', 'enum'], ['available', 'pending', 'sold']],
  ['what a NewPet needs', ['components', 'schemas', 'NewPet', 'required'], ['name', 'categoryId']],
  ['what a Pet has', ['components', 'schemas', 'Pet', 'required'], ['id', 'name', 'categoryId']],
  ['the id of a Pet', ['components', 'schemas', 'Pet', 'properties', 'id'], INT64],
  ['the category of a NewPet', ['components', 'schemas', 'NewPet', 'properties', 'categoryId'], INT64],
  ['what an Error has', ['components', 'schemas', 'Error', 'required'], ['code', 'message', 'status']],
];

const RESPONSES: readonly (readonly [path: string, method: string, statuses: readonly number[]])[] = [
  ['/pets', 'get', [200, 400, 401, 429, 500, 503]],
  ['/pets', 'post', [201, 400, 401, 403, 409, 413, 415, 422, 429, 500, 503]],
  ['/pets/{petId}', 'get', [200, 401, 404, 429, 500, 503]],
];

describe('openapi.json', () => {
  const gateway = useGateway(SQLITE);
  const read = async () => (await gateway.call('GET', '/v1/openapi.json', { key: null })).json;

  test('has no finding under the recommended rules of Redocly, and names a contact', async () => {
    const source = (await gateway.get('/v1/openapi.json')).text;
    const config = await createConfig({ extends: ['recommended'], rules: { 'info-contact': 'error' } });
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    expect(problems.map(({ ruleId, severity, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([]);
  });

  it.each(DESCRIPTION)('says what the description says: %s', async (_what, path, value) => {
    const part = at(await read(), ...path);
    if (typeof value === 'object' && !Array.isArray(value)) expect(part).toMatchObject(value ?? {});
    else expect(part).toEqual(value);
  });

  test('describes exactly the operations of the table', async () => {
    const { paths } = await read();
    const operations = Object.entries<object>(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(operations.sort()).toEqual(OPERATIONS.map(({ method, path }) => `${method.toLowerCase()} ${path}`).sort());
  });

  it.each(RESPONSES)('%s %s lists its answers', async (path, method, statuses) => {
    const { responses } = at(await read(), 'paths', path, method);
    expect(Object.keys(responses).map(Number)).toEqual(statuses);
  });

  test('limit is 1 to 100, by default 20', async () => {
    const parameters: { name: string }[] = at(await read(), 'paths', '/pets', 'get', 'parameters');
    expect(parameters.map(({ name }) => name)).toEqual(expect.arrayContaining(['limit', 'status', 'after']));
    expect(parameters[0]).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
  });

  test('says what generators need: formats, the most items of a page, examples, and how long to wait', async () => {
    const description = await read();
    const parameters = at(description, 'paths', '/pets', 'get', 'parameters');
    expect(parameters[0].schema.format).toBe('int32');
    expect(parameters.find(({ name }: { name: string }) => name === 'after')).toMatchObject({
      schema: INT64,
      description: expect.stringMatching(/ Such as `\d+`\.$/),
    });
    expect(at(description, 'paths', '/pets', 'post', 'parameters', '0')).toMatchObject({
      name: 'Idempotency-Key',
      description: expect.stringMatching(/ such as `[\x21-\x7e]{1,255}`\.$/),
    });
    expect(at(description, 'components', 'schemas', 'Pets', 'maxItems')).toBe(100);
    expect(at(description, 'components', 'headers', 'Retry-After', 'schema', 'type')).toBe('integer');
    expect(at(description, 'components', 'headers', 'Link', 'example')).toMatch(/^<https:.*>; rel="next"$/);
    expect(at(description, 'components', 'headers', 'Location', 'example')).toMatch(/^\/v1\/pets\/\d+$/);
    expect(Object.keys(at(description, 'components', 'responses', 'too_many_requests', 'headers'))).toEqual(
      expect.arrayContaining(['Retry-After', 'RateLimit-Policy', 'RateLimit']),
    );
  });

  test('the example of 429 is what the gateway says', async () => {
    const { content } = at(await read(), 'components', 'responses', 'too_many_requests');
    const { message } = shareLimitsOf(1, 65_536).refusal('queue full');
    expect(content['application/json'].example).toEqual({ code: 'too_many_requests', message, status: 429 });
  });

  // Readers of OpenAPI in Go refuse a whole document for a pattern with a lookaround: JSON Schema 2020-12, Core §6.4.
  test('its patterns have no lookaround', async () => {
    const patterns = [...JSON.stringify(await read()).matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(([, one]) => one);
    expect(patterns.length).toBeGreaterThan(0);
    expect(patterns.filter((one) => /\(\?[=!<]/.test(one ?? ''))).toEqual([]);
  });

  // What a generator made of it must take the errors of a later gateway, too.
  test('an Error is open to further codes and properties, and tells all codes that there are', async () => {
    const { Error: error } = at(await read(), 'components', 'schemas');
    expect(error).not.toHaveProperty('additionalProperties');
    expect(error.properties.code).not.toHaveProperty('enum');
    for (const code of Object.keys(ERRORS)) expect(error.properties.code.description).toMatch(`${code}`);
    expect(Object.keys(ERRORS).length).toBeGreaterThan(0);
  });

  test("each GET with the examples of its parameters, and each word of an enum, gives animals of a newcomer's store", async () => {
    await addSamples(gateway.database, PETSTORE.resources);
    const { paths, components } = await read();
    const valuesOf = ({ schema, example, description }: any): string[] =>
      schema.$ref
        ? components.schemas[schema.$ref.split('/').at(-1)].enum
        : [example ?? / Such as `(.+)`\.$/.exec(description)?.[1] ?? expect.fail(`no example: ${description}`)];
    const asked: string[] = [];
    for (const [path, { get }] of Object.entries<any>(paths)) {
      let addresses = get ? [path] : [];
      for (const parameter of get?.parameters ?? [])
        addresses = addresses.flatMap((address) =>
          valuesOf(parameter).map((value) =>
            parameter.in === 'path'
              ? address.replace(`{${parameter.name}}`, value)
              : `${address}${address.includes('?') ? '&' : '?'}${parameter.name}=${value}`,
          ),
        );
      for (const address of addresses) {
        const { status, json } = await gateway.get(`/v1${address}`);
        expect({ address, status, isEmpty: json.length === 0 }).toEqual({ address, status: 200, isEmpty: false });
        asked.push(address);
      }
    }
    expect(asked).toContain('/pets?limit=5&status=pending&after=5');
    expect(asked.length).toBeGreaterThan(PET_STATUSES.length);
  });

  test('its first server is the address that was asked, with the version; the second is for staging', async () => {
    const { servers } = await read();
    expect(servers).toMatchObject([{ url: `${gateway.url}/v1` }, { description: 'Staging' }]);
  });
});
