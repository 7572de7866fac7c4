import { describe, expect, test } from 'vitest';
import { createCompiler, loadedKey } from '../../src/schema/compile.ts';
import type { SelectionPlan } from '../../src/schema/plan.ts';
import { contextOf, createNestedSchema, type Person, type Rows, type Shop, wrong } from './nested-schema.ts';

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

/** What was asked of a value that `run` gave, by the keys of the selection, under its names. */
function read(asked: SelectionPlan, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => read(asked, item));
  if (value === null || value === undefined) return null;
  const object = value as Record<string, unknown>;
  const entries = asked.fields.map((field) => {
    const content = object[loadedKey(asked, field)] ?? null;
    return [field.responseName, field.selection ? read(field.selection, content) : content];
  });
  return Object.fromEntries(entries);
}

async function run(text: string, args: object, rows = found()) {
  const operation = compile(text);
  const context = contextOf(rows);
  const value = await operation.run(wrong(args), context);
  return { value, context, rows, shown: operation.selection && read(operation.selection, value) };
}

describe('a compiled document', () => {
  test('rows that need no resolver are given as they are', async () => {
    const rows = found();
    const { value, shown } = await run(
      'query ($id: Int!) { shop(id: $id) { id street: place { street } } }',
      { id: 3 },
      rows,
    );
    expect(value).toBe(rows.shops[1]);
    expect(shown).toEqual({ id: 3, street: { street: 'High Street' } });
  });

  test('what resolvers give is there, loaded in one turn for all rows', async () => {
    const text = `query ($limit: Int) { shops(limit: $limit) {
      id owner { name greeting(word: "Hi") shop { id } } place { number } __proto__: size
    } }`;
    const { shown, rows } = await run(text, { limit: 100 });
    expect(JSON.stringify(shown)).toBe(
      JSON.stringify([
        {
          id: 1,
          owner: { name: 'person 1', greeting: 'Hi person 1', shop: { id: 1 } },
          place: { number: 1 },
          ['__proto__']: 10,
        },
        {
          id: 3,
          owner: { name: 'person 2', greeting: 'Hi person 2', shop: { id: 3 } },
          place: { number: 3 },
          ['__proto__']: 30,
        },
        { id: 5, owner: null, place: { number: 5 }, ['__proto__']: 50 },
      ]),
    );
    expect(rows.loads).toEqual([[1, 2, 9]]);
  });

  test.each(['id', 'id owner { name }'])(
    'a list is told to be unfinished whether it was loaded or not: %s',
    async (fields) => {
      const text = `query ($limit: Int) { shops(limit: $limit) { ${fields} } }`;
      const cut = await run(text, { limit: 2 });
      expect(cut.context.unfinished).toContain(cut.value);
      const whole = await run(text, { limit: 3 });
      expect(whole.context.unfinished).toEqual([]);
    },
  );

  test('what a resolver throws is thrown as it is, wherever it stands', async () => {
    const rows = { ...found(), shops: [shop(2, 1)] };
    await expect(run('{ shops { rating } }', { limit: 20 }, rows)).rejects.toMatchObject({
      code: 'bad_request',
      message: 'no rating',
    });
    await expect(run('{ shops { motto } }', { limit: 20 }, rows)).rejects.toMatchObject({
      code: 'bad_request',
      message: 'no motto',
    });
  });

  test.each([
    ['two root fields', '{ shops { id } count }', 'one root field'],
    [
      'a variable below the root field',
      'query ($limit: Int!) { shops(limit: $limit) { people(limit: $limit) { id } } }',
      'at its root field only',
    ],
    ['an argument that is no variable', '{ shops(limit: 3) { id } }', 'takes its arguments from variables'],
    ['an unknown field', '{ shops { colour } }', 'Cannot query field'],
  ])('%s is refused', (_what, text, message) => {
    expect(() => compile(text)).toThrow(message);
  });

  test('a leaf has no selection', () => {
    expect(compile('{ count }').selection).toBeUndefined();
  });
});
