import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { limitsByType } from '../../src/gateway/graphql/cost.ts';
import { LIMITS } from '../../src/gateway/graphql/limits.ts';
import { createRefusalOf } from './cost-refusal.ts';
import { createPetDocuments, schema } from './schema-alone.ts';

const types = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
);
const fields = types.flatMap((type) =>
  Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const),
);
const limits = limitsByType(schema);
/** The arguments that say how long a page may be. */
const PAGE_SIZES = ['limit', 'first'];
const isPageSize = ({ name }: { name: string }) => PAGE_SIZES.includes(name);
const isConnection = ({ type }: GraphQLField<unknown, unknown>) => getNamedType(type).name.endsWith('Connection');
const lists = fields.filter(([, { type }]) => isListType(getNullableType(type)) && isObjectType(getNamedType(type)));
/** The fields that give lists of objects, and those that give a connection, whose lists they bound. */
const bounded = fields.filter(
  (one) => isConnection(one[1]) || (lists.includes(one) && !one[0].endsWith('Connection.edges')),
);

/** A document that asks a root field for one leaf, with a page size. */
function ask({ name, args }: GraphQLField<unknown, unknown>, times: number, size?: number): string {
  const given = args
    .filter(
      (argument) =>
        isPageSize(argument) || (argument.defaultValue === undefined && String(argument.type).endsWith('!')),
    )
    .map((argument) => {
      if (!isPageSize(argument)) return `${argument.name}: "1"`;
      return size === undefined ? '' : `${argument.name}: ${size}`;
    });
  const list = given.join('') === '' ? '' : `(${given.join(' ')})`;
  return `{ ${Array.from({ length: times }, (_, index) => `a${index}: ${name}${list} { __typename }`).join(' ')} }`;
}

const refusalOf = createRefusalOf(schema, 'animals', createPetDocuments());

test.each(bounded)(
  'the list %s costs its page: it has the argument, with a rule that ends it, and a way on',
  (coordinate, field) => {
    const wanted = `${coordinate} takes pageArguments(…) or connectionArguments(…)`;
    expect(
      field.args.map(({ name }) => name),
      wanted,
    ).toEqual(expect.arrayContaining([isConnection(field) ? 'first' : 'limit', 'after']));
    const size = field.args.find(isPageSize);
    expect(size && String(size.type)).toBe('Int!');
    expect(size?.defaultValue ?? size?.default).toBeDefined();
    // A page without a rule would be allowed to be this; a rule makes it cost nothing, because the resolver refuses it.
    expect(refusalOf(ask(field, 1, 2 ** 31 - 1))).toBeUndefined();
  },
);

test.each(lists.filter(([coordinate]) => coordinate.startsWith('Query.')))(
  '%s is weighed by what is asked for',
  (_coordinate, field) => {
    const content = getNamedType(field.type);
    const { maxObjects: max = 0, plural } = (isObjectType(content) && limits.get(content)) || {};
    expect(refusalOf(ask(field, max / 100, 100))).toBeUndefined();
    expect(refusalOf(ask(field, max / 100 + 1, 100))).toBe(
      `The request may touch ${max + 100} ${plural}; the limit is ${max}.`,
    );
    expect(refusalOf(ask(field, 30, 20))).toContain(`600 ${plural}`);
    expect(refusalOf(ask(field, 30))).toContain(`600 ${plural}`); // by default
  },
);

test('what is written fits into an answer as often as it has leaves, and once more for their names', () => {
  const LEAVES = 15;
  const names = Array.from({ length: LEAVES }, (_, index) => `n${index}: name`).join(' ');
  const add = `mutation ($name: String!) { addPet(input: { name: $name, categoryId: "1" }) { ${names} } }`;
  const longest = LIMITS.responseBytes.max / (LEAVES + 1) - '{"input":{"name":"","categoryId":"1"}}'.length;
  expect(refusalOf(add, { name: 'x'.repeat(longest) })).toBeUndefined();
  expect(refusalOf(add, { name: 'x'.repeat(longest + 1) })).toContain('33554432 bytes');
});

test('what is written counts also after a field whose arguments are refused', () => {
  const add = (name: string) => `addPet(input: { name: ${name}, categoryId: "1" }) { id }`;
  const query = `mutation ($none: String = "Rex", $name: String!) { refused: ${add('$none')} ${add('$name')} }`;
  const given = { none: null, name: 'x'.repeat(LIMITS.responseBytes.max / 2) };
  expect(refusalOf(query, given)).toContain('33554432 bytes');
});

test('an input that can be written has no lists: its cost is its values', () => {
  for (const type of Object.values(schema.getTypeMap()).filter(isInputObjectType)) {
    for (const field of Object.values(type.getFields())) expect(isListType(getNullableType(field.type))).toBe(false);
  }
});
