import * as z from 'zod/mini';
import type { Deprecation } from '../../gateway/deprecations.ts';
import {
  type Builder,
  countedAs,
  int64Id,
  oncePerSchema,
  pageArguments,
  wordEnum,
} from '../../gateway/schema/builder.ts';
import { connectionArguments, connectionType, toConnection, toPageQuery } from '../../gateway/schema/connection.ts';
import { type NewPet, PETS, type Pet, type PetStatus } from './pet.ts';

/** The deprecation of fetching one animal by its id. Lists replace it. */
export const PET_DEPRECATION: Deprecation = {
  coordinate: 'Query.pet',
  since: new Date('2026-11-20T00:00:00Z'),
  sunset: new Date('2030-12-05T00:00:00Z'),
  replacement: { graphql: 'pets(status:)', rest: 'GET /v1/pets with a status filter', restPath: '/v1/pets' },
  steps: [
    {
      purpose: 'The animals that can be had',
      rest: 'GET /v1/pets?status=available',
      graphql: '{ pets(status: AVAILABLE) { id name } }',
    },
    {
      purpose: 'One animal, such as 42: the list that begins right before it and holds one',
      rest: 'GET /v1/pets?after=41&limit=1',
      graphql: '{ pets(after: "41", limit: 1) { id name } }',
      note: 'When the answer is empty, or has another id, there is no animal 42. Compute `id - 1` with 64-bit integers.',
    },
  ],
};

const statusType = oncePerSchema((builder) =>
  wordEnum<PetStatus>(builder, 'PetStatus', 'The availability of an animal.', {
    available: 'The animal is for sale.',
    pending: 'The animal is reserved; its sale is not completed.',
    sold: 'The animal has been sold.',
  }),
);

/** The GraphQL type of an animal, for this and other resources. */
export const petType = oncePerSchema((builder) => {
  const status = statusType(builder);
  return builder.objectRef<Pet>('Pet').implement({
    description: 'An animal of the pet store.',
    extensions: countedAs('animals'),
    fields: (t) => ({
      id: t.exposeID('id', { description: 'Unique identifier assigned by the service on creation, a 64-bit integer.' }),
      name: t.exposeString('name', { description: "The animal's name, exactly as it was sent." }),
      categoryId: t.exposeID('categoryId', {
        description: 'Id of the category the animal belongs to, a 64-bit integer.',
      }),
      status: t.expose('status', { type: status, nullable: true, description: 'Availability, if one was given.' }),
    }),
  });
});

/** Text without lone surrogates, which UTF-8 cannot encode. */
const wellFormed = z
  .string()
  .check(z.refine((name) => name.isWellFormed(), 'must be well-formed Unicode: it holds a lone surrogate'));

function defineNewPet(builder: Builder) {
  return builder.inputRef<NewPet>('NewPetInput').implement({
    description: 'An animal to add.',
    fields: (t) => ({
      name: t
        .string({ required: true, description: "The animal's name: any Unicode text, the empty one too." })
        .validate(wellFormed),
      categoryId: t
        .id({ required: true, description: 'Id of the category the animal belongs to, a 64-bit integer.' })
        .validate(int64Id),
      status: t.field({
        type: statusType(builder),
        description: 'Availability. Without one the animal has none: no default is made up.',
      }),
    }),
  });
}

/** Defines the GraphQL types and fields of animals. */
export function definePetTypes(builder: Builder): void {
  const pet = petType(builder);
  const status = { type: statusType(builder), description: 'Only animals with this availability.' };
  builder.queryFields((t) => ({
    pets: t.field({
      type: [pet],
      description: 'Animals by ascending id.',
      args: { status: t.arg(status), ...pageArguments(builder, 'animals') },
      resolve: (_root, query, { store }) => store(PETS).list(query),
    }),
    petsConnection: t.field({
      type: connectionType(builder, 'Pet', pet, 'animals'),
      description: 'The list `pets` with what paging needs.',
      args: { status: t.arg(status), ...connectionArguments(builder, 'animals') },
      resolve: async (_root, query, { store }) => toConnection(await store(PETS).list(toPageQuery(query)), query.after),
    }),
    pet: t.field({
      type: pet,
      nullable: true,
      description: 'One animal by its id; null when there is none.',
      args: { id: t.arg.id({ required: true, description: 'The id of the animal.' }).validate(int64Id) },
      resolve: (_root, { id }, { store }) => store(PETS).get(id),
    }),
  }));
  const input = defineNewPet(builder);
  builder.mutationField('addPet', (t) =>
    t.field({
      type: pet,
      description: 'Adds an animal and gives it with its id.',
      args: { input: t.arg({ type: input, required: true, description: 'The animal to add.' }) },
      resolve: (_root, { input: added }, { store }) => store(PETS).add(added),
    }),
  );
}
