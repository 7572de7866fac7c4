import { type GraphQLInputObjectType, type GraphQLObjectType, getNamedType } from 'graphql';
import { expect, test } from 'vitest';
import { fieldEntries } from '../../src/database/table.ts';
import { type NewPet, PETS } from '../../src/pets/pet.ts';
import { schema } from '../../src/schema/schema.ts';

const fields = fieldEntries<NewPet>(PETS.fields).map(([name, { index }]) => ({ name, index }));
const pets = schema.getQueryType()?.getFields().pets;
const output = getNamedType(pets?.type) as GraphQLObjectType;
const input = getNamedType(schema.getMutationType()?.getFields().addPet?.args[0]?.type) as GraphQLInputObjectType;

const missing = (name: string, where: string) =>
  `${name} stands in PETS (src/pets/pet.ts), but is no ${where} (src/schema/pet-type.ts)`;

test.each(fields)('$name, a field that is kept, can be sent and read', ({ name }) => {
  expect(output.getFields(), missing(name, `field of ${output.name}`)).toHaveProperty(name);
  expect(input.getFields(), missing(name, `field of ${input.name}`)).toHaveProperty(name);
});

test('lists are filtered by exactly the fields that have an index', () => {
  const pageArguments = ['limit', 'after'];
  const filters = pets?.args.map(({ name }) => name).filter((name) => !pageArguments.includes(name)) ?? [];
  const indexed = fields.filter(({ index }) => index !== undefined).map(({ name }) => name);
  for (const name of indexed) expect(filters, missing(name, 'argument of pets')).toContain(name);
  for (const name of filters) expect(indexed, `${name} filters pets, but has no index in PETS`).toContain(name);
});
