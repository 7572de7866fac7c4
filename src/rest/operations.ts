import type { ErrorCode } from '../errors.ts';
import type { Pet } from '../pets/pet.ts';
import type { Reply } from '../schema/context.ts';
import {
  AFTER,
  LIMIT,
  type QueryParameter,
  readNewPet,
  readPetId,
  readQuery,
  refusePetId,
  STATUS,
} from './parameters.ts';

/** A request, as a row of the table reads it. */
export interface RestRequest {
  readonly query: URLSearchParams;
  /** Path parameters by name, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** The JSON body of an operation that has one. */
  readonly body: unknown;
}

/** A successful answer. */
export interface RestAnswer {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A row of the table: one REST operation as a GraphQL document, with the way in and the way out. */
export interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST';
  /** Path below the version segment, parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly stability?: 'experimental' | 'beta';
  readonly query: readonly QueryParameter<unknown>[];
  /** Whether an `Idempotency-Key` makes its retries safe. */
  readonly idempotent: boolean;
  readonly hasBody: boolean;
  readonly success: {
    readonly status: 200 | 201;
    readonly schema: 'Pet' | 'Pets';
    readonly description: string;
    /** Headers that this answer may have, beside those of every answer. */
    readonly headers: readonly ('Link' | 'Location' | 'Idempotency-Replayed')[];
  };
  /** Refusals of its own, beside those that every operation has. */
  readonly refusals: readonly ErrorCode[];
  readonly document: string;
  /** The document's variables, in the words of the store. Throws ApiError for a request that is not allowed. */
  variables(request: RestRequest): Record<string, unknown>;
  /** The answer for what the document's field gives, in the words of the store. Throws ApiError when the data means a refusal. */
  answer(data: unknown, reply: Reply, request: RestRequest): RestAnswer;
}

/** The version segment that every path begins with. */
export const BASE_PATH = '/v1';

const PET_FIELDS = '{ id name categoryId status }';

/** THE TABLE. Routes, the OpenAPI document and the reference page are made from it. */
export const OPERATIONS: readonly Operation[] = [
  {
    operationId: 'listPets',
    method: 'GET',
    path: '/pets',
    summary: 'List animals',
    description:
      'Animals by ascending id, optionally filtered by status. When more animals follow, the `Link` header (RFC 8288) holds the address of the next page.',
    query: [LIMIT, STATUS, AFTER],
    idempotent: false,
    hasBody: false,
    success: { status: 200, schema: 'Pets', description: 'A page of animals.', headers: ['Link'] },
    refusals: ['bad_request'],
    document: `query listPets($status: PetStatus, $limit: Int, $after: ID) {
      pets(status: $status, limit: $limit, after: $after) ${PET_FIELDS}
    }`,
    variables({ query }) {
      return { limit: readQuery(query, LIMIT), status: readQuery(query, STATUS), after: readQuery(query, AFTER) };
    },
    answer(data, { hasMore }, { query }) {
      const pets = data as readonly Pet[]; // what the document asks for
      const last = pets.at(-1);
      const next = hasMore && last ? { Link: nextPageLink(query, String(last.id)) } : {};
      return { body: writePets(pets), headers: next };
    },
  },
  {
    operationId: 'createPet',
    method: 'POST',
    path: '/pets',
    summary: 'Add an animal',
    description: 'Adds an animal and returns it with the id assigned to it.',
    query: [],
    idempotent: true,
    hasBody: true,
    success: {
      status: 201,
      schema: 'Pet',
      description: 'The created animal including its assigned id.',
      headers: ['Location', 'Idempotency-Replayed'],
    },
    refusals: [
      'bad_request',
      'idempotency_conflict',
      'payload_too_large',
      'unsupported_media_type',
      'idempotency_mismatch',
    ],
    document: `mutation createPet($input: NewPetInput!) { addPet(input: $input) ${PET_FIELDS} }`,
    variables: ({ body }) => ({ input: readNewPet(body) }),
    answer(data, { replayed }) {
      const pet = data as Pet; // what the document asks for
      const location = { Location: `${BASE_PATH}/pets/${pet.id}` };
      return { body: writePet(pet), headers: replayed ? { ...location, 'Idempotency-Replayed': 'true' } : location };
    },
  },
  {
    operationId: 'getPet',
    method: 'GET',
    path: '/pets/{petId}',
    summary: 'Get an animal',
    description: 'One animal by its id.',
    query: [],
    idempotent: false,
    hasBody: false,
    success: { status: 200, schema: 'Pet', description: 'The animal.', headers: [] },
    refusals: ['not_found'],
    document: `query getPet($petId: ID!) { pet(id: $petId) ${PET_FIELDS} }`,
    variables: ({ path }) => ({ petId: readPetId(path.petId) }),
    answer(data) {
      const pet = data as Pet | null; // what the document asks for
      return { body: writePet(pet ?? refusePetId()) };
    },
  },
];

/** A Pet as JSON, its 64-bit integers with all their digits. */
function writePet({ id, name, categoryId, status }: Pet): string {
  const statusMember = status === null ? '' : `,"status":"${status}"`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${statusMember}}`;
}

// Requests that shared one query got the same array, one right after the other: its text is written once.
let written: { readonly pets: readonly Pet[]; readonly text: string } = { pets: [], text: '[]' };

function writePets(pets: readonly Pet[]): string {
  if (written.pets !== pets) written = { pets, text: `[${pets.map(writePet).join(',')}]` };
  return written.text;
}

/** RFC 8288 §3: the page after `lastId` of the same list, relative to the address that was asked for. */
function nextPageLink(query: URLSearchParams, lastId: string): string {
  // Digits and words, all of them read before: nothing to be encoded.
  const kept = [LIMIT, STATUS].filter(({ name }) => query.has(name)).map(({ name }) => `${name}=${query.get(name)}`);
  return `<${BASE_PATH}/pets?${[...kept, `${AFTER.name}=${lastId}`].join('&')}>; rel="next"`;
}
