import { GraphQLError } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { type NewPet, type PetRow, type PetStatus, parseId } from './pet-rules.ts';
import type { PetStore } from './pet-store.ts';

interface Context {
  readonly pets: PetStore;
}

const typeDefs = /* GraphQL */ `
  enum PetStatus { AVAILABLE PENDING SOLD }
  type Pet { id: ID! name: String! categoryId: ID! status: PetStatus }
  input NewPetInput { name: String! categoryId: ID! status: PetStatus }
  type Query {
    pets(status: PetStatus, limit: Int! = 20, after: ID): [Pet!]!
    pet(id: ID!): Pet
  }
  type Mutation { addPet(input: NewPetInput!): Pet! }
`;

type PetsArguments = { status?: PetStatus | null; limit: number; after?: string | null };
type NewPetArguments = { input: { name: string; categoryId: string; status?: PetStatus | null } };

const resolvers = {
  PetStatus: { AVAILABLE: 'available', PENDING: 'pending', SOLD: 'sold' },
  Pet: { categoryId: (row: PetRow) => row.category_id },
  Query: {
    async pets(_root: unknown, { status, limit, after }: PetsArguments, { pets }: Context) {
      if (limit < 1 || limit > 100) throw new GraphQLError('limit must be 1 to 100.');
      const query = { limit, status: status ?? undefined, after: after ? requireId(after) : undefined };
      return (await pets.listPets(query)).slice(0, limit);
    },
    pet: (_root: unknown, { id }: { id: string }, { pets }: Context) => pets.getPet(requireId(id)),
  },
  Mutation: {
    addPet(_root: unknown, { input }: NewPetArguments, { pets }: Context) {
      const { name, categoryId, status = null } = input;
      const newPet: NewPet = { name, categoryId: requireId(categoryId), status };
      return pets.addPet(newPet);
    },
  },
};

function requireId(text: string): bigint {
  const id = parseId(text);
  if (id === undefined) throw new GraphQLError('An ID must be a 64-bit integer.');
  return id;
}

/** The schema that all comparisons on GraphQL serve; its resolvers find the store in the context. */
export const schema = createSchema<Context>({ typeDefs, resolvers });

/** What a request without a valid key is answered. */
export function unauthenticated(): GraphQLError {
  return new GraphQLError('A valid API key is required.', {
    extensions: { code: 'UNAUTHENTICATED', http: { status: 401 } },
  });
}
