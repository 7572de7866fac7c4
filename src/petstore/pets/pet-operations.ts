import { longDay } from '../../gateway/deprecations.ts';
import { defineResource, type Tab } from '../../gateway/service.ts';
import { PET_SELECTION, PETS, samplePet } from './pet.ts';
import { definePetTypes, PET_DEPRECATION } from './pet-types.ts';

const { sunset, replacement } = PET_DEPRECATION;

/** GraphiQL's first tabs: an example of each operation. */
export const PET_TABS: readonly Tab[] = [
  tab(['Five animals, by ascending id.', 'Play button or Ctrl-Enter: run.'], 'query ListPets', 'pets(limit: 5)'),
  tab(
    ['One status: AVAILABLE, PENDING or', 'SOLD, chosen in the variables.'],
    'query FilterByStatus($status: PetStatus!)',
    'pets(status: $status, limit: 5)',
    { status: 'AVAILABLE' },
  ),
  tab(
    ['The page after the last animal', 'seen, whose id is "after" below.'],
    'query NextPage($after: ID!)',
    'pets(after: $after, limit: 5)',
    { after: '5' },
  ),
  tab(
    ['Pages for frontends: the endCursor', 'of one is the "after" of the next.'],
    'query Pages($after: String)',
    'petsConnection(first: 5, after: $after)',
    { after: null },
    ['edges { cursor node { id name } }', 'pageInfo { hasNextPage endCursor }'],
  ),
  tab(
    ['Ids are 64-bit: as strings, they', 'lose no digit. With the header', 'Idempotency-Key, a retry is safe.'],
    'mutation AddPet($input: NewPetInput!)',
    'addPet(input: $input)',
    { input: { name: 'Rex', categoryId: '3', status: 'AVAILABLE' } },
  ),
  tab(
    [`Removal on ${longDay(sunset)}.`, `Use ${replacement.graphql} instead.`],
    'query DeprecatedPet($id: ID!)',
    'pet(id: $id)',
    { id: '1' },
  ),
];

function tab(
  comments: readonly string[],
  operation: string,
  field: string,
  variables?: object,
  selection = PET_SELECTION,
): Tab {
  const lines = comments.map((comment) => `# ${comment}`);
  lines.push(`${operation} {`, `  ${field} {`, ...selection.map((line) => `    ${line}`), '  }', '}', '');
  return { query: lines.join('\n'), ...(variables && { variables: JSON.stringify(variables, null, 2) }) };
}

const NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };
const PET = { id: 1, ...NEW_PET };

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
