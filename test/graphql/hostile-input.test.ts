import { getVariableValues } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { parametersFromQuery } from '../../src/gateway/graphql/request-parameters.ts';
import { parseInt64 } from '../../src/lib/exact-json/exact-json.ts';
import { admittedCall } from '../support/calls.ts';
import { send } from '../support/client.ts';
import { leastCpuTimes } from '../support/cpu-time.ts';
import { SQLITE } from '../support/engines.ts';
import { collectGarbage } from '../support/garbage.ts';
import { gatewayOf } from '../support/gateway.ts';
import { endpointRoute, serveEndpoint } from './endpoint-alone.ts';
import { createPetDocuments, schema } from './schema-alone.ts';

/** What the input is made of, and nothing else in an answer is. */
const MARK = 'Q';
const QUOTED_MAX = 100;

const ADD = 'mutation ($input: NewPetInput!) { addPet(input: $input) { id } }';
/** A request to add this. */
const adding = (input: unknown) => ({ query: ADD, variables: { input } });
const marks = (count: number) => MARK.repeat(count);
const many = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');
const unknownFields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${MARK}${index}`, 1]));

/** Requests as large as they may be, each of which gets errors that graphql-js would quote it in. */
const QUOTED: Record<string, string | { query: string; variables?: object; operationName?: string }> = {
  'unknown members of an input': adding({ name: 'x', categoryId: 1, ...unknownFields(5500) }),
  'an unknown member with a long name': adding({ name: 'x', categoryId: 1, [marks(60_000)]: 1 }),
  'an unknown member whose name has quotation marks': adding({ name: 'x', categoryId: 1, [`"${marks(60_000)}`]: 1 }),
  'an input that is text': adding(marks(60_000)),
  'an input without a name': adding({ categoryId: marks(60_000) }),
  'a category that is a list': adding({ name: 'x', categoryId: [marks(60_000)] }),
  'a name that is a list of many': adding({ name: Array.from({ length: 10_000 }, () => MARK), categoryId: 1 }),
  'a status with a quotation mark': adding({ name: 'x', categoryId: 1, status: `A" ${marks(60_000)}` }),
  'a variable that is none of an enum': {
    query: 'query ($s: PetStatus) { pets(status: $s) { id } }',
    variables: { s: `A" ${marks(60_000)}` },
  },
  'a status that is none': adding({ name: 'x', categoryId: 1, status: marks(60_000) }),
  'a limit that is text': { query: 'query ($n: Int!) { pets(limit: $n) { id } }', variables: { n: marks(60_000) } },
  'a variable with a long name': `query ($${marks(40_000)}: Int!) { pets(limit: $${MARK}) { id } }`,
  'an unknown field': `{ ${marks(60_000)} }`,
  'unknown fields': `{ ${many(900, (n) => marks(60) + n)} }`,
  'an unknown argument': `{ pets(${marks(60_000)}: 1) { id } }`,
  'an unknown fragment': `{ ...${marks(60_000)} }`,
  'fragments that spread each other': `{ ...${MARK}0 } ${many(80, (n) => `fragment ${MARK}${n} on Query { ...${MARK}${(n + 1) % 80} ...${MARK}0 }`)}`,
  'an unknown type': `query ($n: ${marks(60_000)}) { pets { id } }`,
  'an unknown directive': `{ pets { id @${marks(60_000)} } }`,
  'an enum value that is none': `{ pets(status: ${marks(60_000)}) { id } }`,
  'a text in the place of an enum value': `{ pets(status: "${marks(60_000)}") { id } }`,
  'a text in the place of a number': `{ pets(limit: "\\"${marks(30_000)}\\"${marks(20_000)}") { id } }`,
  'an object in the place of a number': `{ pets(limit: { ${many(200, (n) => `${MARK}${n}: ${MARK}`)} }) { id } }`,
  'fields that conflict': `{ ...A ...B } fragment A on Query { pets { ${many(14, (n) => `${MARK}${n}: id`)} } } fragment B on Query { pets { ${many(14, (n) => `${MARK}${n}: name`)} } }`,
  'many operations': many(120, (n) => `query ${MARK}${n} { pets { id } }`),
  'an operation that there is not': { query: 'query A { pets { id } }', operationName: marks(60_000) },
  'a text that is no document': marks(60_000),
  'a string that does not end': `{ pets(after: "${marks(60_000)}`,
};

const LONG_NAME = 'n'.repeat(60_000);

describe('input that would be large in the answer', () => {
  const gateway = gatewayOf(SQLITE, { LOG_LEVEL: 'silent' });
  let url: string;
  beforeAll(async () => {
    url = await serveEndpoint(gateway);
  });
  const ask = (request: object) =>
    send(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) });

  test.each(Object.entries(QUOTED))('%s: a few short errors that quote little of it', async (_what, request) => {
    const { text, json } = await ask(typeof request === 'string' ? { query: request } : request);
    expect(json.errors.length).toBeLessThanOrEqual(11);
    for (const { message, locations = [] } of json.errors) {
      expect(message.split(MARK).length - 1).toBeLessThanOrEqual(QUOTED_MAX);
      expect(message.length).toBeLessThanOrEqual(401);
      expect(locations.length).toBeLessThanOrEqual(5);
    }
    expect(text.length).toBeLessThan(10_000);
  });

  test.each([
    ['categoryId', { name: 'x', categoryId: 1.5 }, /^Variable "\$input" has invalid value at \.categoryId: ID cannot/],
    [
      'an unknown member',
      { name: 'x', categoryId: 1, colour: 'red' },
      /^Variable "\$input" has invalid value: .*"colour"/,
    ],
    [
      'a member that is like a known one',
      { name: 'x', categoryId: 1, category: 3 },
      /^Variable "\$input" .* unknown field "category"\. Did you mean "categoryId"\? Found: { name: "x", categ/,
    ],
  ])('the message about %s names the variable', async (_what, input, message) => {
    expect((await ask(adding(input))).json.errors[0].message).toMatch(message);
  });

  test('variables as they were sent are not kept while requests wait for room', async () => {
    const route = endpointRoute(gateway);
    const body = Buffer.from(JSON.stringify({ query: '{ pets { id } }', variables: { x: Array(20_000).fill([]) } }));
    const waits: PromiseWithResolvers<void>[] = []; // a wait that nobody could end would be garbage, with all that waits for it
    const reserve = () => {
      const wait = Promise.withResolvers<void>();
      waits.push(wait);
      return wait.promise;
    };
    const before = heap();
    const calls = Array.from({ length: 20 }, () => route?.handle(admittedCall({ method: 'POST', body, reserve })));
    expect((heap() - before) / 2 ** 20).toBeLessThan(5);
    expect(waits).toHaveLength(20);
    for (const { resolve } of waits) resolve();
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ status: 200 });
  });

  describe('long names', () => {
    beforeAll(async () => {
      const categoryId = parseInt64('1') ?? expect.fail();
      for (let index = 0; index < 100; index++) {
        await gateway.pets.addAll([{ name: LONG_NAME, categoryId, status: null }]);
      }
    });
    const names = (count: number) => `pets(limit: 100) { ${many(count, (n) => `n${n}: name`)} }`;

    test('an answer that would be larger than 32 MiB, in two lists, is refused while it is written', async () => {
      const query = `{ a: pets(limit: 50) { ${many(10, (n) => `n${n}: name`)} } b: ${names(6)} }`;
      const { status, json, text } = await ask({ query });
      expect([status, json.data]).toEqual([200, null]);
      expect(json.errors[0]).toMatchObject({
        message: expect.stringContaining('33554432 bytes'),
        extensions: { code: 'MAX_RESPONSE_BYTES_EXCEEDED' },
      });
      expect(text.length).toBeLessThan(1000);
    });

    test('five pages of them are answered', async () => {
      expect((await ask({ query: `{ ${names(5)} }` })).json.data.pets).toHaveLength(100);
    });

    test('what could not be answered is not added', async () => {
      const before = await gateway.database.knex('pets').count({ n: '*' });
      const query = `mutation ($input: NewPetInput!) { ${many(15, (n) => `a${n}: addPet(input: $input) { ...F }`)} }
        fragment F on Pet { ${many(15, (n) => `b${n}: name`)} }`;
      const { json } = await ask({ query, variables: { input: { name: '\u0001'.repeat(40_000), categoryId: 1 } } });
      expect(json.errors[0].extensions.code).toBe('MAX_RESPONSE_BYTES_EXCEEDED');
      expect(await gateway.database.knex('pets').count({ n: '*' })).toEqual(before);
    });
  });
});

function heap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Documents in which something grows. */
const GROWING: Record<string, (size: number) => string> = {
  comments: (size) => `{ pets { id } }${'#\n'.repeat(size / 2)}`,
  'empty lines, and an error after them': (size) => `${'\n'.repeat(size)}{ pets { bad } }`,
  'a block string': (size) => `{ pets(after: """${'a\n '.repeat(size / 3)}""") { id } }`,
  'a block string deep in an input with unknown fields': (size) =>
    `mutation { addPet(input: {${'a:{'.repeat(100)}b:"""x${'\n'.repeat(size)}Ā"""${'}'.repeat(100)} ${many(12, (n) => `u${n}:1`)}}) { id } }`,
  'escaped quotation marks': (size) => `{ pets(limit: "${'\\"'.repeat(size / 2)}") { id } }`,
  digits: (size) => `{ pets(limit: ${'9'.repeat(size)}) { id } }`,
  'a name': (size) => `{ pets { ${'x'.repeat(size)} } }`,
  'equal fields': (size) => `{ ${'pets { id } '.repeat(size / 250)} }`,
  'fields that differ': (size) =>
    `{ ${many(size / 400, (n) => `pets { ${['id', 'name', 'id name', 'name id'][n % 4]} }`)} }`,
  'nested fragments': (size) => `{ ${'... { '.repeat(size / 250)}__typename${' }'.repeat(size / 250)} }`,
  'spread fragments': (size) =>
    `{ ${many(size / 1000, (n) => `...F${n}`)} } ${many(size / 1000, (n) => `fragment F${n} on Query { pets { ...G } }`)} fragment G on Pet { id name }`,
  'repeated directives': (size) => `{ pets { id ${'@skip(if: true) '.repeat(size / 500)} } }`,
};

describe('documents', () => {
  test.each(Object.entries(GROWING))('%s: twice as much costs no more than twice the time', async (_what, write) => {
    const preparing = (text: string) => () => createPetDocuments()(text); // anew each time: prepared ones are kept
    // A quadratic step takes four times as long; the 5 ms are for what the machine does meanwhile.
    const allowed = (half: number) => Math.min(3 * half + 5, 250);
    const [half = 0, whole = 0] = await leastCpuTimes(
      [preparing(write(30_000)), preparing(write(60_000))],
      ([half = 0, whole = 0]) => whole < allowed(half),
    );
    expect(whole).toBeLessThan(allowed(half));
  });

  const CONDITIONS = Array.from({ length: 10 }, (_, n) => `v${n}`);
  const DECLARED = CONDITIONS.map((name) => `$${name}: Boolean = true`).join(', ');

  /** Prepares a document with these conditions, and plans it for so many combinations of their values. */
  function planMany(prepare: ReturnType<typeof createPetDocuments>, text: string, count = 700, others: object = {}) {
    const { errors, operations } = prepare(text);
    expect(errors).toEqual([]);
    const [operation] = operations;
    return Array.from({ length: count }, (_, bits) => {
      const inputs = Object.fromEntries(CONDITIONS.map((name, n) => [name, (bits & (1 << n)) !== 0]));
      const values = getVariableValues(schema, operation?.operation.variableDefinitions ?? [], {
        ...inputs,
        ...others,
      });
      return operation?.plan(values.variableValues ?? expect.unreachable()) ?? expect.unreachable();
    });
  }

  /** One condition is null, which is an error. */
  function planNulls(prepare: ReturnType<typeof createPetDocuments>, index: number, nullable = 'n'): void {
    const text = `query ($${nullable}: Boolean = true, ${DECLARED}) {
      ${'__typename '.repeat(600)} ${many(10, (n) => `b${index}x${n}: __typename @skip(if: $v${n})`)} c: __typename @skip(if: $${nullable}) }`;
    for (const { error } of planMany(prepare, text, 700, { [nullable]: null }))
      if (!error?.message.slice(0, 20)) expect.unreachable(); // read as an answer reads it: then its text is whole
  }

  /** A document that is left out but for a selection. */
  const leavingOut = (left: string, kept = '__typename', name = 'A') =>
    `query ${name}($z: Boolean = false, ${DECLARED}) { ${kept} ...@include(if: $z) { ${many(10, (n) => `b${n}: __typename @skip(if: $v${n})`)} ${left} } }`;
  const times = (count: number, act: (index: number) => void) => Array.from({ length: count }, (_, n) => act(n));

  // Kept as a whole, each of them takes 50 to 400 MB.
  const KEPT: Record<string, (prepare: ReturnType<typeof createPetDocuments>) => void> = {
    comments: (prepare) => times(250, (n) => prepare(`{ pets { id } } # ${n}\n${'#\n'.repeat(7500)}`)),
    fields: (prepare) => times(25, (n) => prepare(many(120, (m) => `query A${n}B${m} { pets { id } }`))),
    'texts that are no document': (prepare) => times(4000, (n) => prepare(`{a${n}${'@a'.repeat(490)}`)),
    'unknown fields': (prepare) => times(2500, (n) => prepare(`{a${n} b c d e f g h i j k}`)),
    'conditions that are null': (prepare) => times(25, (n) => planNulls(prepare, n)),
    'conditions with long names': (prepare) => times(20, (n) => planNulls(prepare, n, 'n'.repeat(20_000))),
    'plans of an operation with a long name': (prepare) =>
      times(2, (n) => planMany(prepare, leavingOut('__typename '.repeat(600), '', `${'Q'.repeat(50_000)}${n}`))),
    'plans with a long alias': (prepare) =>
      times(4, (n) =>
        planMany(prepare, leavingOut('__typename '.repeat(600), `${'a'.repeat(50_000)}${n}: __typename`), 350),
      ),
    'plans of equal fields': (prepare) =>
      times(40, (n) => planMany(prepare, leavingOut('__typename', `a${n}: pets { ${'id '.repeat(600)} }`), 250)),
    'escaped characters': (prepare) => times(130, (n) => prepare(`{ pet(id: "${'a\\n'.repeat(20_900)}${n}") { id } }`)),
    'inputs that errors quote': (prepare) =>
      times(20, (n) => {
        const input = `{${'a:{'.repeat(100)}b:"""x${'\n'.repeat(30_000)}x"""${'}'.repeat(100)}, ${many(8, (m) => `u${m}:${n}`)}}`;
        const { errors } = prepare(`mutation { addPet(input: ${input}) { id } }`);
        expect(errors.length).toBeGreaterThan(5);
        expect(errors.map(({ message }) => message.slice(0, 900)).join('')).toContain('Argument "input"');
      }),
    'slices of a long target': (prepare) =>
      times(6000, (n) => {
        const target = Buffer.from(`/graphql?query={${'a'.repeat(14)}${n}}&x=${'A'.repeat(15_000)}`).toString();
        prepare(parametersFromQuery(target.slice(target.indexOf('?') + 1)).query);
      }),
  };

  test.each(Object.entries(KEPT))('thousands of different ones, of %s, are not all cached', (_what, prepareMany) => {
    const prepare = createPetDocuments();
    const before = heap();
    prepareMany(prepare);
    expect((heap() - before) / 2 ** 20).toBeLessThan(40);
    const document = prepare('{ pets { id } }');
    expect(prepare('{ pets { id } }')).toBe(document);
  });
});
