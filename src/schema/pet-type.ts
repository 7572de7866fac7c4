import * as z from 'zod/mini';
import { deprecationOf, longDay } from '../deprecations.ts';
import { isPetName, type NewPet, type Pet, type PetStatus } from '../pets/pet.ts';
import { builder } from './builder.ts';
import { requireWrite } from './context.ts';
import { int64Id } from './int64-id.ts';
import { pageArguments } from './page-arguments.ts';
import { wordEnum } from './word-enum.ts';

const PetStatusEnum = wordEnum<PetStatus>('PetStatus', 'The availability of an animal.', {
  available: 'The animal is for sale.',
  pending: 'The animal is reserved; its sale is not completed.',
  sold: 'The animal has been sold.',
});

const PetObject = builder.objectRef<Pet>('Pet').implement({
  description: 'An animal of the pet store.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier assigned by the service on creation, a 64-bit integer.' }),
    name: t.exposeString('name', { description: "The animal's name, exactly as it was sent." }),
    categoryId: t.exposeID('categoryId', {
      description: 'Id of the category the animal belongs to, a 64-bit integer.',
    }),
    status: t.expose('status', {
      type: PetStatusEnum,
      nullable: true,
      description: 'Availability, if one was given.',
    }),
  }),
});

const NewPetInput = builder.inputRef<NewPet>('NewPetInput').implement({
  description: 'An animal to add.',
  fields: (t) => ({
    name: t
      .string({ required: true, description: "The animal's name: any Unicode text, the empty one too." })
      .validate(z.string().check(z.refine(isPetName, 'must be well-formed Unicode: it holds a lone surrogate'))),
    categoryId: t
      .id({ required: true, description: 'Id of the category the animal belongs to, a 64-bit integer.' })
      .validate(int64Id),
    status: t.field({
      type: PetStatusEnum,
      description: 'Availability. Without one the animal has none: no default is made up.',
    }),
  }),
});

builder.queryField('pets', (t) =>
  t.field({
    type: [PetObject],
    description: 'Animals by ascending id.',
    args: {
      status: t.arg({ type: PetStatusEnum, description: 'Only animals with this availability.' }),
      ...pageArguments('animals'),
    },
    async resolve(_root, { status, limit, after }, { stores: { pets }, reply, deadline }) {
      const page = await pets.listPets({ status, limit, after }, deadline);
      reply.hasMore = page.hasMore;
      return page.rows;
    },
  }),
);

const petDeprecation = deprecationOf('Query.pet');

builder.queryField('pet', (t) =>
  t.field({
    type: PetObject,
    nullable: true,
    description: 'One animal by its id; null when there is none.',
    ...(petDeprecation && {
      deprecationReason: `Scheduled for removal on ${longDay(petDeprecation.sunset)}; use ${petDeprecation.replacement.graphql} instead.`,
    }),
    args: { id: t.arg.id({ required: true, description: 'The id of the animal.' }).validate(int64Id) },
    resolve: (_root, { id }, { stores: { pets }, deadline }) => pets.getPet(id, deadline),
  }),
);

builder.mutationField('addPet', (t) =>
  t.field({
    type: PetObject,
    description: 'Adds an animal and gives it with its id.',
    args: { input: t.arg({ type: NewPetInput, required: true, description: 'The animal to add.' }) },
    async resolve(_root, { input }, { stores: { pets }, reply, nextOnce, caller, deadline }) {
      requireWrite(caller);
      const { pet, replayed } = await pets.addPet(input, nextOnce(), deadline);
      if (replayed) reply.replayed = true;
      return pet;
    },
  }),
);
