import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import { expect, test } from 'vitest';
import { costError, readArguments } from '../../src/graphql/cost.ts';
import { createDocuments } from '../../src/graphql/documents.ts';
import { LIMITS } from '../../src/graphql/limits.ts';
import { NO_VARIABLES } from '../../src/schema/plan.ts';
import { schema } from '../../src/schema/schema.ts';

const types = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
);
const fields = types.flatMap((type) =>
  Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const),
);
const lists = fields.filter(([, { type }]) => isListType(getNullableType(type)));

/** A document that asks a root field for one leaf, with a limit. */
function ask({ name, args }: GraphQLField<unknown, unknown>, times: number, limit?: number): string {
  const given = args
    .filter(
      ({ name, defaultValue, type }) => name === 'limit' || (defaultValue === undefined && String(type).endsWith('!')),
    )
    .map((argument) =>
      argument.name === 'limit' ? (limit === undefined ? '' : `limit: ${limit}`) : `${argument.name}: "1"`,
    );
  const list = given.join('') === '' ? '' : `(${given.join(' ')})`;
  return `{ ${Array.from({ length: times }, (_, index) => `a${index}: ${name}${list} { __typename }`).join(' ')} }`;
}

function costOf(text: string) {
  const [prepared] = createDocuments()(text).operations;
  if (!prepared) throw new Error('one operation');
  const plan = prepared.plan(NO_VARIABLES);
  return costError(
    plan,
    plan.fields.map((field) => readArguments(field, NO_VARIABLES)),
    NO_VARIABLES,
  )?.message;
}

test.each(lists)('the list %s costs its limit: it has the argument, with a rule that ends it', (_coordinate, field) => {
  const limit = field.args.find(({ name }) => name === 'limit');
  expect(limit && String(limit.type)).toBe('Int!');
  expect(limit?.defaultValue ?? limit?.default).toBeDefined();
  // A limit without a rule would be allowed to be this; a rule makes it cost nothing, because the resolver refuses it.
  expect(costOf(ask(field, 1, 2 ** 31 - 1))).toBeUndefined();
});

test.each(lists.filter(([coordinate]) => coordinate.startsWith('Query.')))(
  '%s is weighed by what is asked for',
  (_coordinate, field) => {
    const most = LIMITS.animals.most;
    expect(costOf(ask(field, most / 100, 100))).toBeUndefined();
    expect(costOf(ask(field, most / 100 + 1, 100))).toBe(
      `The request may touch ${most + 100} animals; the limit is ${most}.`,
    );
    expect(costOf(ask(field, 30, 20))).toContain('600 animals');
    expect(costOf(ask(field, 30))).toContain('600 animals'); // by default
  },
);

test('what graphql-js cannot be spared is introspection only: every other operation has a plan', () => {
  const prepare = createDocuments();
  for (const [coordinate, field] of fields) {
    const [type, name] = coordinate.split('.');
    const content = getNamedType(field.type);
    if ((type !== 'Query' && type !== 'Mutation') || !isObjectType(content)) continue;
    const leaves = Object.keys(content.getFields()).join(' ');
    const operation = type.toLowerCase();
    const variables = field.args
      .filter(({ name }) => name !== 'limit')
      .map((argument) => `$${argument.name}: ${argument.type}`);
    const given = field.args
      .filter(({ name }) => name !== 'limit')
      .map((argument) => `${argument.name}: $${argument.name}`);
    const text = `${operation} (${variables}) { ${name}(${given}) { __typename ${leaves} } }`;
    expect(parse(text)).toBeDefined();
    const document = prepare(text);
    expect(document.errors).toEqual([]);
    expect([coordinate, document.operations[0]?.plan(NO_VARIABLES).isPlanned]).toEqual([coordinate, true]);
  }
});

test('an input that can be written has no lists: its cost is its values', () => {
  for (const type of Object.values(schema.getTypeMap()).filter(isInputObjectType)) {
    for (const field of Object.values(type.getFields())) expect(isListType(getNullableType(field.type))).toBe(false);
  }
});
