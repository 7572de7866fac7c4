import { longDay } from '../../gateway/deprecations.ts';
import type { Tab } from '../../gateway/service.ts';
import { PET_SELECTION } from './pet.ts';
import { PET_DEPRECATION } from './pet-types.ts';

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
