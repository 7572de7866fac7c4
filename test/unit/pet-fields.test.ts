import { type GraphQLInputObjectType, type GraphQLObjectType, getNamedType } from 'graphql';
import { expect, test } from 'vitest';
import { columnsOf } from '../../src/gateway/store/table.ts';
import { PETS, samplePet } from '../../src/petstore/pets/pet.ts';
import { SCHEMA } from '../support/petstore-api.ts';

const columns = columnsOf(PETS);
const queries = SCHEMA.getQueryType()?.getFields();
const pets = queries?.pets;
const output = getNamedType(pets?.type) as GraphQLObjectType;
const input = getNamedType(SCHEMA.getMutationType()?.getFields().addPet?.args[0]?.type) as GraphQLInputObjectType;

const missing = (name: string, where: string) =>
  `${name} stands in PETS (src/petstore/pets/pet.ts), but is no ${where} (src/petstore/pets/pet-types.ts)`;

test.each(columns)('$name, a field that is kept, can be sent and read', ({ name }) => {
  expect(output.getFields(), missing(name, `field of ${output.name}`)).toHaveProperty(name);
  expect(input.getFields(), missing(name, `field of ${input.name}`)).toHaveProperty(name);
});

test('the connection has the filters of the list', () => {
  const names = (field: string) => queries?.[field]?.args.map(({ name }) => name) ?? [];
  const common = names('pets').map((name) => (name === 'limit' ? 'first' : name));
  expect(names('petsConnection').toSorted()).toEqual(common.sort());
});

test('lists are filtered by exactly the fields that have an index', () => {
  const pageArguments = ['limit', 'after'];
  const filters = pets?.args.map(({ name }) => name).filter((name) => !pageArguments.includes(name)) ?? [];
  const indexed = columns.filter(({ index }) => index !== undefined).map(({ name }) => name);
  expect(indexed.length).toBeGreaterThan(0);
  for (const name of indexed) expect(filters, missing(name, 'argument of pets')).toContain(name);
  for (const name of filters) expect(indexed, `${name} filters pets, but is no filter in PETS`).toContain(name);
});

test('the samples begin anew with a number behind the name', () => {
  const names = [0, 11, 12, 24].map((index) => samplePet(index).name);
  expect(names).toEqual(['Bella the Labrador', 'Zoé the Tortoise', 'Bella the Labrador 2', 'Bella the Labrador 3']);
});
