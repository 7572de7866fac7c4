import {
  buildSchema,
  findSchemaChanges,
  type GraphQLArgument,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { printedSchema } from '../../src/gateway/schema/schema.ts';
import { schema as served } from './schema-alone.ts';

/** CONTRACT section 4, to the letter; its `…` stand for words of ours. */
const CONTRACT = `
  enum PetStatus { AVAILABLE PENDING SOLD }
  type Pet { id: ID!  name: String!  categoryId: ID!  status: PetStatus }
  input NewPetInput { name: String!  categoryId: ID!  status: PetStatus }
  type PetConnection { edges: [PetEdge!]!  pageInfo: PageInfo! }
  type PetEdge { cursor: String!  node: Pet! }
  type PageInfo { hasNextPage: Boolean!  hasPreviousPage: Boolean!  startCursor: String  endCursor: String }
  type Query {
    pets(status: PetStatus, limit: Int! = 20, after: ID): [Pet!]!
    petsConnection(status: PetStatus, first: Int! = 20, after: String): PetConnection!
    pet(id: ID!): Pet @deprecated(reason: "…")
  }
  type Mutation { addPet(input: NewPetInput!): Pet! }
`;

const schema = buildSchema(printedSchema(served));
const ownTypes = Object.values(schema.getTypeMap()).filter(
  ({ name, astNode }) => astNode !== undefined && !name.startsWith('__'),
);

/** A type and all that is in it: what a reader of the schema meets. */
function* partsOf(type: GraphQLNamedType): Generator<[string, { description?: string | null | undefined }]> {
  yield [type.name, type];
  if (isEnumType(type)) for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value];
  if (!isObjectType(type) && !isInputObjectType(type)) return;
  for (const field of Object.values(type.getFields())) {
    yield [`${type.name}.${field.name}`, field];
    const args: readonly GraphQLArgument[] = 'args' in field ? field.args : [];
    for (const argument of args) yield [`${type.name}.${field.name}(${argument.name}:)`, argument];
  }
}

test('the schema keeps every promise of the contract; it may make more', () => {
  const additions = /^(?:TYPE|FIELD|OPTIONAL_(?:ARG|INPUT_FIELD))_ADDED$|^DESCRIPTION_CHANGED$/;
  const changes = findSchemaChanges(buildSchema(CONTRACT), schema).filter(({ type }) => !additions.test(type));
  expect(changes.map(({ description }) => description)).toEqual([]);
});

test.each(ownTypes.flatMap((type) => [...partsOf(type)]))('%s has a description', (_coordinate, { description }) => {
  expect(description).toMatch(/^[A-Z].*[.]$/s);
});

test('the deprecation of pet names the day of its removal and the replacement', () => {
  expect(schema.getQueryType()?.getFields().pet?.deprecationReason).toMatch(
    /removal.* 5 December 2030.*pets\(status:\)/,
  );
});

test('nothing else is deprecated', () => {
  expect(printedSchema(served).match(/@deprecated/g)).toHaveLength(1);
});

test('the description of a status to add says what its null means', () => {
  const input = schema.getType('NewPetInput');
  expect(isInputObjectType(input) && input.getFields().status?.description).not.toContain('null is not allowed');
});
