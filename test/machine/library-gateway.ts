import { beforeAll, expect } from 'vitest';
import { type Answer, send } from '../support/client.ts';
import type { TestEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { unlessShed } from '../support/load.ts';
import { createLibrary } from './library/library.ts';
import { makeTables } from './tables.ts';

/** What a request has beside method and path. */
export interface LibraryCall {
  /** A JSON value, or a text as it stands. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The API key; null sends none. */
  readonly key?: string | null;
}

/** A gateway of the library, on a fresh database. */
export interface LibraryGateway extends TestGateway {
  /** Sends a request; `path` is below `/api/v2`. */
  call(method: string, path: string, call?: LibraryCall): Promise<Answer>;
  /** The data of a GraphQL request that must succeed. */
  query(query: string, variables?: Record<string, unknown>): Promise<any>;
  /** Adds a book by an author of its own; gives it as REST has it. */
  addBook(book?: Readonly<Record<string, unknown>>): Promise<any>;
}

export async function startLibrary(
  engine: TestEngine,
  overrides?: Record<string, string>,
  service = createLibrary(),
): Promise<LibraryGateway> {
  const gateway = await startGateway(engine, overrides, undefined, service);
  await makeTables(gateway.database, service);
  const call: LibraryGateway['call'] = (method, path, { body, headers, key = gateway.key } = {}) =>
    send(`${gateway.url}${service.basePath}${path}`, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    ...gateway,
    call,
    async query(query, variables) {
      const { json } = await gateway.graphql(query, variables);
      expect(json).toEqual({ data: expect.anything() });
      return json.data;
    },
    async addBook({ author = 'Jane Austen', ...book } = {}) {
      const { status, json } = await unlessShed(() => call('POST', '/authors', { body: { name: author } }));
      expect([status, json]).toMatchObject([201, {}]);
      const body = { title: 'Emma', authorId: json.id, genre: 'novel', ...book };
      const answer = await unlessShed(() => call('POST', '/books', { body }));
      expect([answer.status, answer.json]).toMatchObject([201, {}]);
      return answer.json;
    },
  };
}

/** The library of the tests of a `describe`, started before the first of them. It is empty until then. */
export function useLibrary(
  engine: TestEngine,
  overrides?: Record<string, string>,
  prepare: (library: LibraryGateway) => unknown = () => {},
): LibraryGateway {
  const library = {} as LibraryGateway;
  beforeAll(async () => {
    Object.assign(library, await startLibrary(engine, overrides));
    await prepare(library);
  });
  return library;
}
