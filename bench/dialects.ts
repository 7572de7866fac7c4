import type { Pet, Question, Status } from './pets.ts';

/** How a kind of server is asked, and how its answers read. */
export interface Dialect {
  /** Method, path with query, and JSON body if any. */
  request(question: Question): { line: string; body?: unknown };
  /** The status of a right answer. */
  status(question: Question): number;
  /** The animals of a parsed body, whose integers are text. */
  read(body: unknown, question: Question): readonly Pet[];
  /** Whether a list's header tells of a next page. */
  readonly linksNextPage: boolean;
}

/** An animal in an answer before it is checked. */
interface SentPet {
  id: string;
  name: string;
  categoryId: string;
  status?: string | null;
}

// What is read here may have any form: a wrong one makes the comparison with the expected animals fail.
const asPets = (value: unknown): SentPet[] => (Array.isArray(value) ? value : [value]) as SentPet[];

const toPet = ({ id, name, categoryId, status }: SentPet): Pet => ({
  id,
  name,
  categoryId,
  status: (status?.toLowerCase() as Status | undefined) ?? null,
});

const created = (question: Question) => (question.kind === 'create' ? 201 : 200);

function restLine(question: Question, statusWord: (status: Status) => string): string {
  if (question.kind === 'create') return 'POST /v1/pets';
  if (question.kind === 'get') return `GET /v1/pets/${question.id}`;
  return `GET /v1/pets?limit=${question.limit}&status=${statusWord(question.status)}&after=${question.after}`;
}

/** The REST API of the description. */
export const rest: Dialect = {
  request(question) {
    const line = restLine(question, (status) => status);
    if (question.kind !== 'create') return { line };
    const { name, categoryId, status } = question.pet;
    return { line, body: { name, categoryId: Number(categoryId), status } };
  },
  status: created,
  read: (body) => asPets(body).map(toPet),
  linksNextPage: true,
};

/** The REST API that SOFA makes: GraphQL's words, ids as strings, no paging. */
export const sofa: Dialect = {
  request(question) {
    const line = restLine(question, (status) => status.toUpperCase());
    return question.kind === 'create' ? { line, body: { input: toInput(question.pet) } } : { line };
  },
  status: created,
  read: (body) => asPets(body).map(toPet),
  linksNextPage: false,
};

const FIELDS = '{ id name categoryId status }';
const DOCUMENTS = {
  list: `query Pets($status: PetStatus, $limit: Int!, $after: ID) { pets(status: $status, limit: $limit, after: $after) ${FIELDS} }`,
  get: `query Pet($id: ID!) { pet(id: $id) ${FIELDS} }`,
  create: `mutation AddPet($input: NewPetInput!) { addPet(input: $input) ${FIELDS} }`,
} as const;

/** GraphQL over HTTP. */
export const graphql: Dialect = {
  request: (question) => ({
    line: 'POST /graphql',
    body: { query: DOCUMENTS[question.kind], variables: variables(question) },
  }),
  status: () => 200,
  read(body, question) {
    const { data } = body as { data: { pets: SentPet[]; pet: SentPet; addPet: SentPet } }; // checked by the comparison
    const value = { list: data.pets, get: data.pet, create: data.addPet }[question.kind];
    return asPets(value).map(toPet);
  },
  linksNextPage: false,
};

function variables(question: Question): Record<string, unknown> {
  if (question.kind === 'create') return { input: toInput(question.pet) };
  if (question.kind === 'get') return { id: String(question.id) };
  return { status: question.status.toUpperCase(), limit: question.limit, after: String(question.after) };
}

function toInput({ name, categoryId, status }: Pet) {
  return { name, categoryId, status: status?.toUpperCase() };
}
