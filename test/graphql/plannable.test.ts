import { buildSchema, type GraphQLField, GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { expect, test } from 'vitest';
import { createPlanner } from '../../src/schema/plan.ts';

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
