import { beforeAll } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/gateway/log.ts';
import { listen } from '../../src/gateway/process/server.ts';
import type { Service } from '../../src/gateway/service.ts';
import type { Store } from '../../src/gateway/store/store.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { type Answer, send } from './client.ts';
import { afterFile, type TestEngine } from './engines.ts';
import { onceAnswered } from './prepared.ts';

/** A gateway that listens on a free port, with an API key; it ends after the test file. */
export interface TestGateway
  extends Pick<Gateway, 'service' | 'database' | 'keys' | 'stores' | 'metrics' | 'app' | 'drain'> {
  /** The store of animals. */
  readonly pets: Store<typeof PETS>;
  readonly url: string;
  readonly port: number;
  /** A valid API key. */
  readonly key: string;
  /** Every line of the log so far, parsed. */
  readonly logs: readonly Record<string, unknown>[];
  /** Sends a request with the key; `path` is relative to the gateway. */
  request(path: string, init?: RequestInit): Promise<Answer>;
  /** POSTs a JSON value, or a text as it stands, to `/v1/pets`. */
  createPet(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** POSTs a GraphQL request with the key. */
  graphql(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  /** Drains and closes it, as a process that stops does. */
  close(): Promise<void>;
}

/** The gateway of the tests of a `describe`, started before the first of them. It is empty until then. */
export function gatewayOf(...call: Parameters<typeof startGateway>): TestGateway {
  const gateway = {} as TestGateway;
  beforeAll(async () => void Object.assign(gateway, await startGateway(...call)));
  return gateway;
}

/** Starts a gateway, by default of the pet store, on a fresh database of the engine, or on `DATABASE_URL` of the overrides. */
export async function startGateway(
  engine: TestEngine,
  overrides: Record<string, string> = {},
  timeouts?: Parameters<typeof listen>[3],
  service: Service = PETSTORE,
): Promise<TestGateway> {
  const logs: Record<string, unknown>[] = [];
  const databaseUrl = overrides.DATABASE_URL ?? (await engine.freshDatabase());
  const config = readConfig({ PORT: '0', ...overrides, DATABASE_URL: databaseUrl });
  const log = createLog(config.logLevel, { write: (line) => logs.push(JSON.parse(line)) });
  const gateway = await onceAnswered(() => createGateway({ service, config, log }));
  const server = await listen(gateway, config, log, timeouts);
  const { key } = await gateway.keys.create({ name: 'test', expiresAt: null });
  let closing: Promise<void> | undefined;
  const close = (graceMs?: number) => {
    closing ??= server.close(graceMs);
    return closing;
  };
  afterFile(() => close(0)); // no client is left, so none needs the drain
  const request = (path: string, { headers, ...init }: RequestInit = {}) =>
    send(server.url + path, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...Object.fromEntries(new Headers(headers)) },
    });
  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: unknown, headers?: Record<string, string>) =>
    request(path, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
    });
  return {
    ...gateway,
    pets: gateway.stores(PETS),
    url: server.url,
    port: server.port,
    key,
    logs,
    request,
    createPet: (body, headers) => post('/v1/pets', body, headers),
    graphql: (query, variables, headers) => post('/graphql', { query, variables }, headers),
    close,
  };
}
