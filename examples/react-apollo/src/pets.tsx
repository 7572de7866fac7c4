import { type ApolloCache, CombinedGraphQLErrors } from '@apollo/client';
import { useMutation, useQuery } from '@apollo/client/react';
import { graphql, type ResultOf, type VariablesOf } from 'gql.tada';
import { useActionState, useState } from 'react';

const LIST = graphql(`
  query Pets($status: PetStatus, $after: String) {
    petsConnection(status: $status, first: 5, after: $after) {
      edges { __typename cursor node { __typename id name categoryId status } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);
const ADD = graphql(
  `mutation AddPet($input: NewPetInput!) { addPet(input: $input) { __typename id name categoryId status } }`,
);
const NO_ID_YET = 'adding…';
const STATUSES = ['AVAILABLE', 'PENDING', 'SOLD'] as const;
const OPTIONS = STATUSES.map((status) => <option key={status}>{status}</option>);
const readStatus = (text: unknown) => STATUSES.find((status) => status === text);

const NO_ANSWER = { message: 'The service cannot be reached.', extensions: undefined };
const firstError = (error: unknown) => (CombinedGraphQLErrors.is(error) && error.errors[0]) || NO_ANSWER;

/** The form that adds an animal, and the animals, page by page. */
export function Pets() {
  const [status, setStatus] = useState<ReturnType<typeof readStatus>>();
  const [moreError, setMoreError] = useState<unknown>();
  const list = useQuery(LIST, { variables: { status } });
  const { edges = [], pageInfo } = list.data?.petsConnection ?? {};
  const loadMore = () =>
    list.fetchMore({ variables: { after: pageInfo?.endCursor } }).then(() => setMoreError(undefined), setMoreError);
  const error = list.error ?? moreError;
  const again = () => (list.error ? list.refetch() : loadMore());
  return (
    <>
      <AddPet />
      <label>
        Show
        <select onChange={({ target }) => setStatus(readStatus(target.value))}>
          <option>all</option>
          {OPTIONS}
        </select>
      </label>
      <ul aria-label="Animals">
        {edges.map(({ node }) => (
          <li key={node.id} aria-busy={node.id === NO_ID_YET}>
            <b>{node.name}</b> {node.id}, category {node.categoryId}, {node.status ?? 'no status'}
          </li>
        ))}
      </ul>
      <p role="status">{list.loading ? 'Loading…' : `${edges.length} animals`}</p>
      {error !== undefined && (
        <p role="alert">
          {firstError(error).message}{' '}
          <button type="button" onClick={again}>
            Try again
          </button>
        </p>
      )}
      {pageInfo?.hasNextPage && (
        <button type="button" disabled={list.loading} onClick={loadMore}>
          Load more
        </button>
      )}
    </>
  );
}

/** Puts it at the end of the cached lists of all and of its status; with the pages that follow, it gets its place. */
function putIntoLists(cache: ApolloCache, node: ResultOf<typeof ADD>['addPet']) {
  const edge = { __typename: 'PetEdge' as const, cursor: '', node };
  for (const status of new Set([undefined, node.status ?? undefined]))
    cache.updateQuery({ query: LIST, variables: { status } }, (cached) => {
      const connection = cached?.petsConnection;
      return connection && { petsConnection: { ...connection, edges: [...connection.edges, edge] } };
    });
}

/** What was tried, and why it failed. */
type Attempt = VariablesOf<typeof ADD> & { key: string; error?: unknown };
const NONE: Attempt = { input: { name: '', categoryId: '' }, key: '' };

/** Adds an animal. What failed stays in the form and keeps its Idempotency-Key until it is changed: it is added once. */
function AddPet() {
  const [addPet] = useMutation(ADD, { update: (cache, { data }) => data && putIntoLists(cache, data.addPet) });
  const [failed, submit, isAdding] = useActionState(async (last: Attempt, form: FormData): Promise<Attempt> => {
    const text = (name: string) => String(form.get(name));
    const input = { name: text('name'), categoryId: text('categoryId'), status: readStatus(text('status')) ?? null };
    const key = JSON.stringify(input) === JSON.stringify(last.input) ? last.key : crypto.randomUUID();
    const context = { headers: { 'idempotency-key': key } };
    const optimisticResponse = { addPet: { __typename: 'Pet' as const, id: NO_ID_YET, ...input } };
    return addPet({ variables: { input }, context, optimisticResponse }).then(
      () => NONE,
      (error) => ({ input, key, error }),
    );
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
