import { setTimeout as delay } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createCompiler } from '../../src/gateway/rest/compile.ts';
import type { Context } from '../../src/gateway/schema/context.ts';
import {
  contextOf,
  createShopSchema,
  type Person,
  type Rows,
  type Shop,
  wrong,
} from '../lib/graphql-plan/shop-schema.ts';

const compile = createCompiler(createShopSchema(), []);

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
  const context = wrong<Context>(contextOf(rows));
  return operation.write(await operation.resolver(undefined, wrong(args), context, operation.info), context);
}

describe('a compiled document', () => {
  test.each([
    ['rating', 'no rating'],
    ['motto', 'no motto'],
  ])('what a resolver throws is thrown as it is, also where null is allowed: %s', async (field, message) => {
    const rows = { ...found(), shops: [shop(1, 1), shop(2, 1)] };
    await expect(run(`{ shops { id ${field} } }`, { limit: 20 }, rows)).rejects.toEqual(new Error(message));
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
