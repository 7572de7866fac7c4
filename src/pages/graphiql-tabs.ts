import { deprecationOf, longDay } from '../deprecations.ts';

/** A tab of GraphiQL, as it is when somebody opens the page for the first time. */
export interface Tab {
  readonly query: string;
  /** JSON. GraphiQL does not show those of the first tab. */
  readonly variables?: string;
}

const PET_FIELDS = `    id
    name
    categoryId
    status`;

/** The real operations, one a tab, in the order in which a newcomer meets them. */
export const TABS: readonly Tab[] = [
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
    query: `# ${describeDeprecation('Query.pet')}
query DeprecatedPet($id: ID!) {
  pet(id: $id) {
${PET_FIELDS}
  }
}
`,
    variables: json({ id: '1' }),
  },
];

function describeDeprecation(coordinate: string): string {
  const deprecation = deprecationOf(coordinate);
  if (!deprecation) throw new Error(`${coordinate} is not deprecated`);
  return `Removal on ${longDay(deprecation.sunset)}.\n# Use ${deprecation.replacement.graphql} instead.`;
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
