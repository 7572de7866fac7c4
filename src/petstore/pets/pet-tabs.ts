import { longDay } from '../../deprecations.ts';
import type { Tab } from '../../service.ts';
import { PET_DEPRECATION } from './pet-deprecation.ts';

const PET_FIELDS = `    id
    name
    categoryId
    status`;

/** The real operations, one a tab, in the order in which a newcomer meets them. */
export const PET_TABS: readonly Tab[] = [
  {
    query: `# Five animals, by ascending id.
# Play button or Ctrl-Enter: run.
query ListPets {
  pets(limit: 5) {
${PET_FIELDS}
  }
}
`,
  },
  {
    query: `# One status: AVAILABLE, PENDING or
# SOLD, chosen in the variables.
query FilterByStatus($status: PetStatus!) {
  pets(status: $status, limit: 5) {
${PET_FIELDS}
  }
}
`,
    variables: json({ status: 'AVAILABLE' }),
  },
  {
    query: `# The page after the last animal
# seen, whose id is "after" below.
query NextPage($after: ID!) {
  pets(after: $after, limit: 5) {
${PET_FIELDS}
  }
}
`,
    variables: json({ after: '5' }),
  },
  {
    query: `# Ids are 64-bit: as strings, they
# lose no digit. With the header
# Idempotency-Key, a retry is safe.
mutation AddPet($input: NewPetInput!) {
  addPet(input: $input) {
${PET_FIELDS}
  }
}
`,
    variables: json({ input: { name: 'Rex', categoryId: '3', status: 'AVAILABLE' } }),
  },
  {
    query: `# Removal on ${longDay(PET_DEPRECATION.sunset)}.
# Use ${PET_DEPRECATION.replacement.graphql} instead.
query DeprecatedPet($id: ID!) {
  pet(id: $id) {
${PET_FIELDS}
  }
}
`,
    variables: json({ id: '1' }),
  },
];

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
