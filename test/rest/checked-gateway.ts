import { beforeAll, expect } from 'vitest';
import { type Answer, send } from '../support/client.ts';
import type { TestEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { expectConformance } from './conformance.ts';

/** What a request has beside method and path. */
export interface Call {
  /** The API key; null sends none. By default the gateway's own. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | ReadableStream;
}

/** A gateway each of whose REST answers is held against the contract and the OpenAPI document. */
export interface CheckedGateway extends TestGateway {
  call(method: string, path: string, call?: Call): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** POSTs a text or bytes to `/v1/pets`. */
  post(body: Call['body'], headers?: Call['headers']): Promise<Answer>;
  /** The ids of all animals, in the order of the database. */
  storedIds(): Promise<string[]>;
}

export async function startCheckedGateway(
  engine: TestEngine,
  overrides?: Record<string, string>,
): Promise<CheckedGateway> {
  const gateway = await startGateway(engine, overrides);
  const call: CheckedGateway['call'] = async (method, path, { key = gateway.key, headers = {}, body } = {}) => {
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
    const answer = await send(gateway.url + path, {
      method,
      headers: { ...authorization, ...headers },
      // TypeScript's DOM types know neither every byte array as a body, nor `duplex`, which fetch wants for streams.
      ...(body !== undefined && ({ body, duplex: 'half' } as RequestInit)),
    });
    expectConformance(method, path, answer);
    return answer;
  };
  return {
    ...gateway,
    call,
    get: (path) => call('GET', path),
    post: (body, headers) =>
      call('POST', '/v1/pets', { body: body ?? '', headers: { 'content-type': 'application/json', ...headers } }),
    async storedIds() {
      const rows: { id: string | number }[] = await gateway.database.knex('pets').select('id').orderBy('id');
      return rows.map(({ id }) => String(id));
    },
  };
}

/** The checked gateway of the tests of a `describe`, started before the first of them. It is empty until then. */
export function useGateway(
  engine: TestEngine,
  overrides?: Record<string, string>,
  prepare: (gateway: CheckedGateway) => unknown = () => {},
): CheckedGateway {
  const gateway = {} as CheckedGateway;
  beforeAll(async () => {
    Object.assign(gateway, await startCheckedGateway(engine, overrides));
    await prepare(gateway);
  });
  return gateway;
}

/** The Error of a status whose message is or matches `message`. */
export function expectRefusal(answer: Answer, status: number, message: string | RegExp): void {
  expect(answer.text).toContain('"code"');
  expect(answer.status).toBe(status);
  expect(answer.json.message).toMatch(message);
}
