import { buildSchema, type GraphQLField, GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, test } from 'vitest';
import { shapeFields } from '../../../src/lib/graphql-plan/field-shape.ts';
import { createPlanner } from '../../../src/lib/graphql-plan/graphql-plan.ts';
import { createShopSchema } from './shop-schema.ts';

const format = {
  leafWriter({ name }: { readonly name: string }) {
    if (name === 'Float') throw new Error('nobody writes Float');
    return String;
  },
  omitsNull: false,
};

/** A schema whose root fields have resolvers. */
function schemaOf(text: string): GraphQLSchema {
  const schema = buildSchema(text);
  const fields: Record<string, GraphQLField<unknown, unknown>> = schema.getQueryType()?.getFields() ?? {};
  for (const field of Object.values(fields)) field.resolve = () => null;
  return schema;
}

test.each([
  ['lists of leaves', 'type Query { pet: Pet } type Pet { names: [String!]! }', 'Pet.names cannot be planned'],
  ['lists within lists', 'type Query { pets: [[Pet]] } type Pet { id: ID }', 'Query.pets cannot be planned'],
  [
    'an interface',
    'type Query { pet: Named } interface Named { id: ID } type Pet implements Named { id: ID }',
    'Query.pet cannot be planned',
  ],
  ['a union', 'type Query { pet: Any } type Pet { id: ID } union Any = Pet', 'Query.pet cannot be planned'],
  [
    'a leaf type that cannot be written',
    'type Query { pet: Pet } type Pet { weight: Float }',
    'Pet.weight cannot be planned: nobody writes Float',
  ],
])('%s stop the start, with the name of the field', (_what, text, message) => {
  expect(() => createPlanner(schemaOf(text), format)).toThrow(message);
});

test('a root field without a resolver stops the start', () => {
  const query = new GraphQLObjectType({ name: 'Query', fields: { count: { type: GraphQLInt } } });
  expect(() => createPlanner(new GraphQLSchema({ query }), format)).toThrow('Query.count has no resolver');
});

test('an object type with isTypeOf stops the start: nobody would call it', () => {
  const pet = new GraphQLObjectType({ name: 'Pet', fields: { name: { type: GraphQLString } }, isTypeOf: () => false });
  const query = new GraphQLObjectType({ name: 'Query', fields: { pet: { type: pet, resolve: () => ({}) } } });
  expect(() => createPlanner(new GraphQLSchema({ query }), format)).toThrow('Pet cannot be planned: it has isTypeOf');
});

test('objects, lists of objects and leaves are planned, also where they lead back', () => {
  const schema = schemaOf('type Query { pet: Pet } type Pet { id: ID! parent: Pet children(limit: Int!): [Pet!]! }');
  expect(() => createPlanner(schema, format)).not.toThrow();
});

test('a field with arguments is not read as a property, even if it exposes one: its arguments have rules', () => {
  const resolve = () => 'resolved';
  const extensions = { pothosExposedField: 'name' };
  const args = { first: { type: GraphQLInt } };
  const pet = new GraphQLObjectType({
    name: 'Pet',
    fields: {
      name: { type: GraphQLString, resolve, extensions },
      called: { type: GraphQLString, resolve, extensions, args },
    },
  });
  const query = new GraphQLObjectType({ name: 'Query', fields: { pet: { type: pet, resolve: () => ({}) } } });
  const shapes = shapeFields(new GraphQLSchema({ query }), format.leafWriter);
  const { name, called } = pet.getFields();
  expect(name && shapes.get(name)).toMatchObject({ resolver: undefined, property: 'name' });
  expect(called && shapes.get(called)?.resolver).toBe(resolve);
});

test('a field that Pothos exposes is read as a property, and one with a resolver is not', () => {
  const schema = createShopSchema();
  const shapes = shapeFields(schema, () => String);
  const resolvers = ['name', 'greeting'].map((name) => {
    const person = schema.getType('Person') as GraphQLObjectType; // as shop-schema.ts defines it
    return typeof [...shapes.values()].find(({ field }) => field === person.getFields()[name])?.resolver;
  });
  expect(resolvers).toEqual(['undefined', 'function']);
});
