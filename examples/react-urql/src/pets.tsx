import type { CombinedError } from '@urql/core';
import { type Cache, cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { graphql, type ResultOf, type VariablesOf } from 'gql.tada';
import { useActionState, useState } from 'react';
import { useClient, useMutation, useQuery } from 'urql';

const LIST = graphql(`
  query Pets($status: PetStatus, $after: String) {
    petsConnection(status: $status, first: 5, after: $after) {
      edges { __typename cursor node { __typename id name categoryId status } }
      pageInfo { __typename hasNextPage endCursor } __typename
    }
  }
`);
const ADD = graphql(
  `mutation AddPet($input: NewPetInput!) { addPet(input: $input) { __typename id name categoryId status } }`,
);
type Adding = VariablesOf<typeof ADD>;
const NO_ID_YET = 'adding…';
const STATUSES = ['AVAILABLE', 'PENDING', 'SOLD'] as const;
const OPTIONS = STATUSES.map((status) => <option key={status}>{status}</option>);
const readStatus = (text: unknown) => STATUSES.find((status) => status === text);

/** Puts it into the cached lists of all and of its status. What is shown is sorted by id. */
function putIntoLists({ addPet: node }: ResultOf<typeof ADD>, _input: unknown, cache: Cache) {
  const edge = { __typename: 'PetEdge' as const, cursor: '', node };
  for (const status of new Set([undefined, node.status ?? undefined]))
    cache.updateQuery({ query: LIST, variables: { status } }, (cached) => {
      const connection = cached?.petsConnection;
      return connection ? { petsConnection: { ...connection, edges: [...connection.edges, edge] } } : null;
    });
}

export const createCache = () =>
  cacheExchange({
    resolvers: { Query: { petsConnection: relayPagination() } },
    optimistic: { addPet: ({ input }: Adding) => ({ __typename: 'Pet', id: NO_ID_YET, status: null, ...input }) },
    updates: { Mutation: { addPet: putIntoLists } },
  });

const firstError = (error?: CombinedError) =>
  error?.graphQLErrors[0] ?? { message: 'The service cannot be reached.', extensions: undefined };

/** The form that adds an animal, and the animals, page by page. */
export function Pets() {
  const client = useClient();
  const [variables, setVariables] = useState<VariablesOf<typeof LIST>>({});
  const [{ data, fetching, error }, load] = useQuery({ query: LIST, variables });
  // A page that failed does not take away those before it.
  const shown = data ?? client.readQuery(LIST, { status: variables.status })?.data;
  const { edges = [], pageInfo } = shown?.petsConnection ?? {};
  const pets = edges.map(({ node }) => node).sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const loadMore = () => setVariables({ ...variables, after: pageInfo?.endCursor });
  return (
    <>
      <AddPet />
      <label>
        Show
        <select onChange={({ target }) => setVariables({ status: readStatus(target.value) })}>
          <option>all</option>
          {OPTIONS}
        </select>
      </label>
      <ul aria-label="Animals">
        {pets.map((pet) => (
          <li key={pet.id} aria-busy={pet.id === NO_ID_YET}>
            <b>{pet.name}</b> {pet.id}, category {pet.categoryId}, {pet.status ?? 'no status'}
          </li>
        ))}
      </ul>
      <p role="status">{fetching ? 'Loading…' : `${edges.length} animals`}</p>
      {error && (
        <p role="alert">
          {firstError(error).message}{' '}
          <button type="button" onClick={() => load({ requestPolicy: 'network-only' })}>
            Try again
          </button>
        </p>
      )}
      {pageInfo?.hasNextPage && (
        <button type="button" disabled={fetching} onClick={loadMore}>
          Load more
        </button>
      )}
    </>
  );
}

/** What was tried, and why it failed. */
type Attempt = Adding & { key: string; error?: CombinedError };
const NONE: Attempt = { input: { name: '', categoryId: '' }, key: '' };

/** Adds an animal. What failed stays in the form and keeps its Idempotency-Key until it is changed: it is added once. */
function AddPet() {
  const [, addPet] = useMutation(ADD);
  const [failed, submit, isAdding] = useActionState(async (last: Attempt, form: FormData): Promise<Attempt> => {
    const text = (name: string) => String(form.get(name));
    const input = { name: text('name'), categoryId: text('categoryId'), status: readStatus(text('status')) ?? null };
    const key = JSON.stringify(input) === JSON.stringify(last.input) ? last.key : crypto.randomUUID();
    const { error } = await addPet({ input }, { fetchOptions: { headers: { 'idempotency-key': key } } });
    return error ? { input, key, error } : NONE;
  }, NONE);
  const { message, extensions } = firstError(failed.error);
  const isAtFault = (name: string) => extensions?.code === 'BAD_USER_INPUT' && message.includes(name);
  const field = (label: string, name: 'name' | 'categoryId') => (
    <label>
      {label}
      <input name={name} required defaultValue={failed.input[name]} aria-invalid={isAtFault(name)} />
    </label>
  );
  return (
    <form aria-label="Add an animal" action={submit}>
      {field('Name', 'name')}
      {field('Category', 'categoryId')}
      <label>
        Status
        <select name="status" key={failed.key} defaultValue={failed.input.status ?? 'none'}>
          <option>none</option>
          {OPTIONS}
        </select>
      </label>
      <button type="submit" disabled={isAdding}>
        Add
      </button>
      <p role="alert">{failed.error !== undefined && message}</p>
    </form>
  );
}
