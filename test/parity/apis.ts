import { expect } from 'vitest';
import { exactJson, postGraphql } from '../graphql/exact-json.ts';
import type { TestGateway } from '../support/gateway.ts';
import { unlessShed } from '../support/load.ts';

/** An animal in words that both APIs have. */
export interface Animal {
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status: string | null;
}

/** What an API gives for an operation: the animals, or its refusal of what is not allowed. */
export type Outcome = readonly Animal[] | 'refused';

/** A list as both APIs can ask for it; `limit` and `after` in digits or what is put in their place. */
export interface ListRequest {
  readonly limit?: string | undefined;
  readonly status?: string | undefined;
  readonly after?: string | undefined;
}

/** The operations, in the words of one API. Anything but an answer or a refusal of the input fails the test. */
export interface Api {
  /** `input` is a NewPet in the words of REST; it may hold `number(…)`, and anything that is no NewPet. */
  create(gateway: TestGateway, input: object): Promise<Outcome>;
  list(gateway: TestGateway, request: ListRequest): Promise<Outcome>;
  /** One animal, or none. */
  get(gateway: TestGateway, id: string): Promise<Outcome>;
}

const rest: Api = {
  async create(gateway, input) {
    const answer = await unlessShed(() => gateway.createPet(exactJson(input)));
    expect([201, 400]).toContain(answer.status);
    return answer.status === 201 ? readPets(answer.text) : 'refused';
  },

  async list(gateway, request) {
    const query = new URLSearchParams(Object.entries(request).filter(([, value]) => value !== undefined));
    const answer = await unlessShed(() => gateway.request(`/v1/pets?${query}`));
    expect([200, 400]).toContain(answer.status);
    return answer.status === 200 ? readPets(answer.text) : 'refused';
  },

  async get(gateway, id) {
    const answer = await unlessShed(() => gateway.request(`/v1/pets/${encodeURIComponent(id)}`));
    expect([200, 404]).toContain(answer.status);
    return answer.status === 200 ? readPets(answer.text) : [];
  },
};

const FIELDS = '{ id name categoryId status }';
const ADD = `mutation ($input: NewPetInput!) { addPet(input: $input) ${FIELDS} }`;
const GET = `query ($id: ID!) { pet(id: $id) ${FIELDS} }`;

const graphql: Api = {
  async create(gateway, input) {
    const status = 'status' in input ? { status: graphqlStatus(input.status) } : {};
    const { json } = await unlessShed(() =>
      postGraphql(gateway, { query: ADD, variables: { input: { ...input, ...status } } }),
    );
    return json.errors ? refused(json, ['BAD_USER_INPUT']) : readGraphqlPets([json.data.addPet]);
  },

  async list(gateway, { limit, status, after }) {
    // In the text, where a limit is what it is in an address: characters.
    const args = [
      ...(limit === undefined ? [] : [`limit: ${limit}`]),
      ...(status === undefined ? [] : [`status: ${graphqlStatus(status)}`]),
      ...(after === undefined ? [] : [`after: ${JSON.stringify(after)}`]),
    ];
    const { json } = await unlessShed(() =>
      postGraphql(gateway, { query: `{ pets${args.length ? `(${args})` : ''} ${FIELDS} }` }),
    );
    return json.errors ? refused(json) : readGraphqlPets(json.data.pets);
  },

  async get(gateway, id) {
    const { json } = await unlessShed(() => postGraphql(gateway, { query: GET, variables: { id } }));
    if (json.errors) refused(json);
    return json.data?.pet ? readGraphqlPets([json.data.pet]) : [];
  },
};

/** Both APIs. */
export const APIS = { rest, graphql };

/** REST's animals. Integers are taken by their digits, before JSON.parse rounds them. */
function readPets(text: string): Animal[] {
  const exact = text.replaceAll(/"(id|categoryId)":(-?\d+)/g, '"$1":"$2"');
  return [JSON.parse(exact)].flat().map((pet) => ({ ...pet, status: pet.status ?? null }));
}

function readGraphqlPets(pets: Animal[]): Animal[] {
  return pets.map((pet) => ({ ...pet, status: pet.status?.toLowerCase() ?? null }));
}

/** GraphQL's word of a status; what is none stays what it is. */
function graphqlStatus(status: unknown): unknown {
  return typeof status === 'string' && /^[a-z]+$/.test(status) ? status.toUpperCase() : status;
}

const REFUSALS = ['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_PARSE_FAILED'];

function refused(json: { errors: { extensions: { code: string } }[] }, codes = REFUSALS): 'refused' {
  for (const { extensions } of json.errors) expect(codes).toContain(extensions.code);
  return 'refused';
}
