import { defineResource } from '../../gateway/service.ts';
import { PET_SELECTION, PETS, samplePet } from './pet.ts';
import { PET_TABS } from './pet-tabs.ts';
import { definePetTypes, PET_DEPRECATION } from './pet-types.ts';

const PET = { id: 1, name: 'Rex', categoryId: 3, status: 'available' };
const NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };

const FIELDS = `{ ${PET_SELECTION.join(' ')} }`;

/** The resource of animals, with its REST operations. */
export const PET_RESOURCE = defineResource({
  table: PETS,
  description: 'The animals of the store.',
  defineTypes: definePetTypes,
  deprecations: [PET_DEPRECATION],
  tabs: PET_TABS,
  sample: samplePet,
  operationRows: [
    {
      operationId: 'listPets',
      method: 'GET',
      path: '/pets',
      summary: 'List animals',
      description: 'Animals by ascending id, optionally filtered by status.',
      document: `query listPets($limit: Int, $status: PetStatus, $after: ID) {
        pets(limit: $limit, status: $status, after: $after) ${FIELDS}
      }`,
      success: { status: 200, description: 'A page of animals.' },
      examples: { answer: [PET], parameters: { limit: 5, after: 5 } },
    },
    {
      operationId: 'createPet',
      method: 'POST',
      path: '/pets',
      summary: 'Add an animal',
      description: 'Adds an animal and returns it with the id assigned to it.',
      document: `mutation createPet($input: NewPetInput!) { addPet(input: $input) ${FIELDS} }`,
      success: {
        status: 201,
        description: 'The created animal including its assigned id.',
        location: '/pets/{id}',
      },
      isIdempotent: true,
      examples: { answer: PET, body: NEW_PET },
    },
    {
      operationId: 'getPet',
      method: 'GET',
      path: '/pets/{petId}',
      summary: 'Get an animal',
      description: 'One animal by its id.',
      document: `query getPet($petId: ID!) { pet(id: $petId) ${FIELDS} }`,
      success: { status: 200, description: 'The animal.' },
      notFound: 'No animal has this id.',
      examples: { answer: PET, parameters: { petId: 1 } },
    },
  ],
});
