import { buildSchema, type GraphQLField, GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, test } from 'vitest';
import { shapeFields } from '../../src/gateway/schema/field-shape.ts';
import { createPlanner } from '../../src/gateway/schema/plan.ts';

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
    'a scalar of no kind',
    'type Query { pet: Pet } type Pet { weight: Float }',
    'Pet.weight cannot be planned: Float is of no kind',
  ],
])('%s stop the start, with the name of the field', (_what, text, message) => {
  expect(() => createPlanner(schemaOf(text))).toThrow(message);
});

test('a root field without a resolver stops the start', () => {
  const query = new GraphQLObjectType({ name: 'Query', fields: { count: { type: GraphQLInt } } });
  expect(() => createPlanner(new GraphQLSchema({ query }))).toThrow('Query.count has no resolver');
});

test('objects, lists of objects and leaves are planned, also where they lead back', () => {
  const schema = schemaOf('type Query { pet: Pet } type Pet { id: ID! parent: Pet children(limit: Int!): [Pet!]! }');
  expect(() => createPlanner(schema)).not.toThrow();
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
  const shapes = shapeFields(new GraphQLSchema({ query }));
  const { name, called } = pet.getFields();
  expect(name && shapes.get(name)).toMatchObject({ resolver: undefined, property: 'name' });
  expect(called && shapes.get(called)?.resolver).toBe(resolve);
});
