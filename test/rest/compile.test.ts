import { setTimeout as delay } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createCompiler } from '../../src/gateway/rest/compile.ts';
import { contextOf, createNestedSchema } from '../graphql/nested-schema.ts';
import { type Person, type Rows, type Shop, wrong } from '../lib/graphql-plan/shop-schema.ts';

const compile = createCompiler(createNestedSchema(), []);

const person = (id: number, shopId: number): Person => ({ id, name: `person ${id}`, shopId });
const shop = (id: number, ownerId: number): Shop => ({
  id,
  name: null,
  place: { street: 'High Street', number: id },
  mailbox: { street: 'Low Street', number: 0 },
  ownerId,
  staff: null,
  guests: [],
});
const found = (): Rows => ({
  shops: [shop(1, 1), shop(3, 2), shop(5, 9)],
  people: [person(1, 1), person(2, 3)],
  loads: [],
});

async function run(text: string, args: object, rows = found()) {
  const operation = compile(text);
  const context = contextOf(rows);
  const value = await operation.resolver(undefined, wrong(args), context, operation.info);
  return { value, rows, written: await operation.write(value, context) };
}

describe('a compiled document', () => {
  test('rows that need no resolver are given as they are, and written with integers for ids', async () => {
    const rows = found();
    const { value, written } = await run(
      'query ($id: Int!) { shop(id: $id) { id street: place { street } name } }',
      { id: 3 },
      rows,
    );
    expect(value).toBe(rows.shops[1]);
    expect(written).toBe('{"id":3,"street":{"street":"High Street"}}');
  });

  test('what resolvers give is written, loaded in one turn for all rows, and left out where it is null', async () => {
    const text = `query ($limit: Int) { shops(limit: $limit) {
      id owner { name greeting(word: "Hi") shop { id } } place { number } __proto__: size
    } }`;
    const { written, rows } = await run(text, { limit: 100 });
    expect(JSON.parse(written)).toEqual(
      JSON.parse(`[
        {"id":1,"owner":{"name":"person 1","greeting":"Hi person 1","shop":{"id":1}},"place":{"number":1},"__proto__":10},
        {"id":3,"owner":{"name":"person 2","greeting":"Hi person 2","shop":{"id":3}},"place":{"number":3},"__proto__":30},
        {"id":5,"place":{"number":5},"__proto__":50}
      ]`),
    );
    expect(rows.loads).toEqual([[1, 2, 9]]);
  });

  test('what is null is left out at every depth, whether it was loaded or not', async () => {
    const rows = { ...found(), people: [person(1, 1), person(2, 4)] };
    const { written } = await run(
      '{ shops { id name staff { id } motto owner { id shop { id } } } }',
      { limit: 2 },
      rows,
    );
    expect(written).toBe('[{"id":1,"owner":{"id":1,"shop":{"id":1}}},{"id":3,"owner":{"id":2}}]');
  });

  test.each([
    ['rating', 'no rating'],
    ['motto', 'no motto'],
  ])('what a resolver throws is thrown as it is, also where null is allowed: %s', async (field, message) => {
    const rows = { ...found(), shops: [shop(1, 1), shop(2, 1)] };
    await expect(run(`{ shops { id ${field} } }`, { limit: 20 }, rows)).rejects.toMatchObject({
      code: 'bad_request',
      message,
    });
  });

  test('a null where the schema allows none is an error of the service', async () => {
    const rows = { ...found(), shops: [{ ...shop(1, 1), guests: wrong<[]>(null) }] };
    const reading = run('{ shops { id guests { id } } }', { limit: 20 }, rows);
    await expect(reading).rejects.toThrow('Cannot return null for non-nullable field Shop.guests.');
    await expect(reading).rejects.not.toBeInstanceOf(GraphQLError);
  });

  const failLater = async () => {
    await delay(20);
    throw new Error('this load fails later');
  };
  const withNull = () => ({ people: wrong<Person[]>({ filter: () => [null, failLater()] }) });
  const withGuests = (guests: () => unknown) => () => ({
    shops: [{ ...shop(1, 9), guests: wrong<[]>(delay(20).then(guests)) }],
  });
  const withLateList = withGuests(() => [failLater()]);
  const withLateSet = withGuests(() => new Set([failLater()]));
  test.each([
    ['beside an item that is null', '{ shops { id people { id } } }', withNull, /^Cannot return null/],
    ['in a list that comes after an error', '{ shops { id boss { id } guests { id } } }', withLateList, /^no boss$/],
    ['in a Set that comes after an error', '{ shops { id boss { id } guests { id } } }', withLateSet, /^no boss$/],
  ])(
    'a load that fails later is no unhandled rejection, which would end the process: %s',
    async (_where, text, rowsOf, message) => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      await expect(run(text, { limit: 1 }, { ...found(), ...rowsOf() })).rejects.toThrow(message);
      await delay(80);
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
    },
  );

  test.each([
    ['two root fields', '{ shops { id } count }', 'one root field'],
    [
      'a variable below the root field',
      'query ($limit: Int!) { shops(limit: $limit) { people(limit: $limit) { id } } }',
      'at its root field only',
    ],
    ['an argument that is no variable', '{ shops(limit: 3) { id } }', 'takes its arguments from variables'],
    ['a selection of nothing', '{ shops {} }', 'Syntax Error'],
    ['an unknown field', '{ shops { colour } }', 'Cannot query field'],
  ])('%s is refused', (_what, text, message) => {
    expect(() => compile(text)).toThrow(message);
  });

  test('a leaf has no selection', () => {
    expect(compile('{ count }').selection).toBeUndefined();
  });
});
