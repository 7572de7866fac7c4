import fc from 'fast-check';
import { GraphQLEnumType, GraphQLID, GraphQLInputObjectType, GraphQLInt, GraphQLNonNull, GraphQLString } from 'graphql';
import { describe, expect, it, test } from 'vitest';
import { ApiError } from '../../src/gateway/errors.ts';
import type { Operation } from '../../src/gateway/rest/operation.ts';
import { representInputObject, representLeaf } from '../../src/gateway/rest/representation.ts';
import { readRequest } from '../../src/gateway/rest/rest-api.ts';
import type { Context } from '../../src/gateway/schema/context.ts';
import { type Int64, parseJson } from '../../src/lib/exact-json/exact-json.ts';
import { PET_STATUSES } from '../../src/petstore/pets/pet.ts';
import { OPERATIONS } from '../support/petstore-api.ts';
import { always } from '../support/properties.ts';

const operation = (id: string): Operation => {
  const found = OPERATIONS.find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
};
const listPets = operation('listPets');
const createPet = operation('createPet');
const getPet = operation('getPet');

const readList = (query: string) => readRequest(listPets, query, {}, undefined).args;
const readPet = (body: unknown) => readRequest(createPet, '', {}, body).args.input;

/** The ApiError that `work` throws. */
function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('the reader of a query', () => {
  test('gives the defaults of the schema for what is absent', () => {
    expect(readList('')).toEqual({ limit: 20, status: undefined, after: undefined });
    expect(readList('other=1&LIMIT=5&limits[]=9&=&&')).toEqual(readList(''));
    expect(readList('?limit=5')).toEqual(readList('')); // of `??limit=5`: the name begins with a question mark
  });
});

describe('the reader of a body', () => {
  test('never throws anything but bad_request', () => {
    always(fc.anything({ withBigInt: true }), (value) => {
      try {
        readPet(value);
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toHaveProperty('code', 'bad_request');
      }
    });
  });

  it.each(['name', 'categoryId'])('a %s that is missing, or inherited, is called required', (field) => {
    const { [field]: _left, ...body } = { name: 'Rex', categoryId: 1 } as Record<string, unknown>;
    expect(refusalOf(() => readPet(body)).message).toMatch(new RegExp(`^${field} is required: a `));
    const heir: unknown = Object.assign(Object.create({ [field]: 1 }), body);
    expect(refusalOf(() => readPet(heir)).message).toMatch(new RegExp(`^${field} is required: a `));
  });
});

describe('kinds within other bounds than an animal has', () => {
  const leafOf = representLeaf.bind(undefined, {});
  const SAFE = Number.MAX_SAFE_INTEGER;
  test.each([
    ['Int', leafOf(GraphQLInt), 'a 32-bit integer', '-7', -7],
    ['Int, which has no minus zero', leafOf(GraphQLInt), 'a 32-bit integer', '-0', 0],
    ['Int within bounds', leafOf(GraphQLInt, { minimum: 0, maximum: 9 }), 'an integer from 0 to 9', '007', 7],
    // A rule of zod for integers always has both bounds: those of a double where it says none.
    ['Int from 1 on', leafOf(GraphQLInt, { minimum: 1, maximum: SAFE }), 'an integer from 1 to 2147483647', '7', 7],
    ['Int up to 9', leafOf(GraphQLInt, { minimum: -SAFE, maximum: 9 }), 'an integer from -2147483648 to 9', '7', 7],
    [
      'Int above 0',
      leafOf(GraphQLInt, { minimum: -SAFE, exclusiveMinimum: 0 }),
      'an integer from 1 to 2147483647',
      '7',
      7,
    ],
    ['Int above a half', leafOf(GraphQLInt, { exclusiveMinimum: 0.5, maximum: 9.5 }), 'an integer from 1 to 9', '7', 7],
    ['Int below 9', leafOf(GraphQLInt, { exclusiveMaximum: 9 }), 'an integer from -2147483648 to 8', '7', 7],
    ['Int within those of a double', leafOf(GraphQLInt, { minimum: -SAFE, maximum: SAFE }), 'a 32-bit integer', '7', 7],
    ['String', leafOf(GraphQLString), 'a string', '', ''],
    ['String within bounds', leafOf(GraphQLString, { maxLength: 9 }), 'a string of 0 to 9 characters', 'a', 'a'],
  ])('%s', (_what, leaf, allowed, text, value) => {
    expect(leaf.allowed).toBe(allowed);
    expect(leaf.fromText(text)).toBe(value);
    expect(leaf.fromJson(JSON.parse(leaf.write(value)))).toBe(value);
    for (const other of [null, [], {}, 1.5, 2 ** 31, -0.5]) expect(leaf.fromJson(other)).toBeUndefined();
  });

  test('an object within a body is named by the way to it', () => {
    const tag = new GraphQLInputObjectType({
      name: 'TagInput',
      fields: { word: { type: new GraphQLNonNull(GraphQLString) }, id: { type: GraphQLID } },
    });
    const input = representInputObject({}, new GraphQLInputObjectType({ name: 'X', fields: { tag: { type: tag } } }));
    expect(input.readJson({ tag: { word: 'a', id: 1 } }, '')).toEqual({ tag: { word: 'a', id: '1' } });
    expect(input.readJson({ tag: { word: 'b' } }, '')).toEqual({ tag: { word: 'b', id: undefined } });
    const refused = (value: unknown) => refusalOf(() => input.readJson({ tag: value }, '')).message;
    expect(refused(1)).toBe('tag must be a JSON object.');
    expect(refused({})).toBe('tag.word is required: a string.');
    expect(refused({ word: 'a', id: '2' })).toBe('tag.id must be a 64-bit integer, not a string: 2 instead of "2".');
  });
});

test('what is said of a property goes before what is said of its type', () => {
  const genre = new GraphQLEnumType({
    name: 'Genre',
    description: 'Any genre.',
    values: { NOVEL: { value: 'novel' } },
  });
  const fields = { genre: { type: genre, description: 'What it is about.' }, second: { type: genre } };
  const schemas = {};
  const { schema, reference } = representInputObject(schemas, new GraphQLInputObjectType({ name: 'X', fields }));
  const $ref = '#/components/schemas/Genre';
  expect(reference).toEqual({ $ref: '#/components/schemas/X' });
  expect(schemas).toMatchObject({
    X: { properties: { genre: { $ref, description: 'What it is about.' }, second: { $ref } } },
  });
  expect(schema).toMatchObject({
    properties: {
      genre: { enum: ['novel'], description: 'What it is about.' },
      second: { enum: ['novel'], description: expect.stringMatching(/^Any genre\. `novel`/) },
    },
  });
});

test('what is never null and has a default may be absent from a body', () => {
  const fields = {
    size: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 3 },
    name: { type: new GraphQLNonNull(GraphQLString) },
    note: { type: GraphQLString },
    word: { type: GraphQLString, defaultValue: null },
  };
  const schemas = {};
  const input = representInputObject(schemas, new GraphQLInputObjectType({ name: 'X', fields }));
  expect(schemas).toMatchObject({ X: { required: ['name'], properties: { size: { default: 3 } } } });
  expect(input.readJson({ name: 'a' }, '')).toEqual({ size: 3, name: 'a', note: undefined, word: null });
  expect(refusalOf(() => input.readJson({ size: 1 }, '')).message).toBe('name is required: a string.');
});

describe('a message says what came, what is allowed and what to do', () => {
  const WORDS = 'one of available, pending, sold';
  const longText = 'x'.repeat(64_000);
  const body = (json: string) => () => readPet(parseJson(`{"name":"Rex",${json}}`));

  it.each<[message: string, read: () => unknown]>([
    ['limit=ten is not allowed: an integer from 1 to 100.', () => readList('limit=ten')],
    ['limit= is not allowed: an integer from 1 to 100.', () => readList('limit')],
    ['limit was given twice.', () => readList('limit=1&limit=1')],
    ['status=AVAILABLE: did you mean available?', () => readList('status=AVAILABLE')],
    [`status=lost is not allowed: ${WORDS}.`, () => readList('status=lost')],
    ['after=01 is not allowed: a 64-bit integer.', () => readList('after=01')],
    ['name is required: a string.', () => readPet({})],
    ['name must be a string, not 5.', () => readPet({ name: 5, categoryId: 1 })],
    ['categoryId is required: a 64-bit integer.', () => readPet({ name: '' })],
    ['categoryId must be a 64-bit integer, not a string: 3 instead of "3".', body('"categoryId":"3"')],
    ['categoryId must be a 64-bit integer, not "x".', body('"categoryId":"x"')],
    ['categoryId must be a 64-bit integer, not null.', body('"categoryId":null')],
    ['categoryId must be a 64-bit integer, not true.', body('"categoryId":true')],
    ['categoryId must be a 64-bit integer, not an array.', body('"categoryId":[1]')],
    ['categoryId must be a 64-bit integer, not an object.', body('"categoryId":{}')],
    ['categoryId must be a 64-bit integer, not 1.5.', body('"categoryId":1.5')],
    ['categoryId must be a 64-bit integer, not 1.00000000000000000001.', body('"categoryId":1.00000000000000000001')],
    ['categoryId must be a 64-bit integer, not 9223372036854775808.', body('"categoryId":9223372036854775808')],
    ['categoryId must be a 64-bit integer, not 1e400.', body('"categoryId":1e400')],
    [`status must be ${WORDS}: "sold" instead of "SOLD".`, body('"categoryId":1,"status":"SOLD"')],
    [`status must be ${WORDS}, not null.`, body('"categoryId":1,"status":null')],
    ['The body must be a JSON object.', () => readPet([])],
  ])('%s', (message, read) => {
    expect(refusalOf(read).message).toBe(message);
  });

  it.each<[what: string, message: string, read: () => unknown]>([
    ['the first 100 characters', `limit=${'x'.repeat(100)}… is not allowed`, () => readList(`limit=${longText}`)],
    ['of a body as well', `not "${'x'.repeat(100)}…".`, () => readPet({ name: '', categoryId: longText })],
    ['no half of a character', `"${'x'.repeat(99)}…"`, () => readPet({ name: '', categoryId: `${'x'.repeat(99)}🐢` })],
    ['one line', 'not "a\ufffdb\ufffdc"', () => readPet({ name: '', categoryId: 'a\nb\u2028c' })],
    ['no API key', 'limit=petstore_*** is', () => readList('limit=petstore_abc')],
  ])('it quotes %s', (_what, part, read) => {
    const { message } = refusalOf(read);
    expect(message).toContain(part);
    expect(message.isWellFormed()).toBe(true);
  });
});

describe('the writer', () => {
  const write = (pet: object) => getPet.write(pet, {} as Context); // no resolver runs that would read it
  const writeList = (pets: readonly object[]) => listPets.write(pets, {} as Context);
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((id) => String(id) as Int64);

  test('writes what JSON.stringify would, integers with all their digits, and leaves out what is null', async () => {
    const record = fc.record({
      id: int64,
      name: fc.string({ unit: 'binary', maxLength: 200 }),
      categoryId: fc.oneof(int64, fc.maxSafeInteger()),
      status: fc.constantFrom(...PET_STATUSES, null),
      more: fc.anything(),
    });
    await fc.assert(
      fc.asyncProperty(record, async (pet) => {
        const { id, name, categoryId, status } = pet;
        const member = status === null ? '' : `,"status":"${status}"`;
        const text = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${member}}`;
        expect(await write(pet)).toBe(text);
        expect(await writeList([])).toBe('[]');
        expect(await writeList([pet, pet])).toBe(`[${text},${text}]`);
      }),
    );
  });
});
