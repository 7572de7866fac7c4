import type { Socket } from 'node:net';
import type { Database } from '../../src/gateway/database/connect.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { openSocket } from '../support/client.ts';
import { rawGet, rawHead, rawPost } from '../support/raw-requests.ts';

/** Adds so many animals with names of that length. */
export async function addLarge(database: Database, count: number, nameLength: number): Promise<void> {
  const pets = createStores(database)(PETS);
  const animal = { name: 'x'.repeat(nameLength), categoryId: '1' as never, status: null }; // digits
  for (let added = 0; added < count; added++) await pets.addAll([animal]);
}

interface Load {
  readonly connections: number;
  /** How long a connection waits until it reads on, in ms. */
  readonly readsEvery?: number;
  readonly request: (connection: number, key: string) => string;
}

/**
 * What many connections of one key send. Most of them read no more than how their answer begins. There are so many animals, with
 * names of about so many characters, as long as a body may be.
 */
export function largeLoads(animals: number, nameLength: number): Readonly<Record<string, Load>> {
  const pages = Math.max(1, animals - 100);
  /** Five pages of a hundred, of other animals than those of most other connections. */
  const aliases = (connection: number, field: string): string => {
    const page = (_: unknown, n: number) =>
      `a${n}: pets(limit: 100, after: "${(5 * connection + n) % pages}") { ${field} }`;
    return JSON.stringify({ query: `{ ${Array.from({ length: 5 }, page).join(' ')} }` });
  };
  const lists = (connection: number, key: string) => rawGet(`/v1/pets?limit=100&after=${connection % pages}`, key);
  const large = `{"name":"${'x'.repeat(nameLength)}","categoryId":1}`;
  /** Of all JSON of its length, this takes the most memory. */
  const variables = `{${Array.from({ length: Math.min(6000 * (nameLength / 65_000), 30_000) }, (_, n) => `"${n}":{}`).join()}}`;
  const pieces = Array.from(large.slice(0, 10_000), (letter) => `1\r\n${letter}\r\n`).join('');
  return {
    'unread lists': { connections: 150, request: lists },
    'slow readers of lists': { connections: 150, readsEvery: 20, request: lists },
    'unread GraphQL lists by aliases': {
      connections: 150,
      request: (connection, key) => rawPost('/graphql', key, aliases(connection, 'name')),
    },
    'GraphQL lists whose names are not asked for': {
      connections: 150,
      request: (connection, key) => rawPost('/graphql', key, aliases(connection, 'id')),
    },
    'GraphQL variables': {
      connections: 150,
      request: (_, key) => rawPost('/graphql', key, `{"query":"{ pets(limit: 1) { id } }","variables":${variables}}`),
    },
    creates: { connections: 150, request: (_, key) => rawPost('/v1/pets', key, large).repeat(3) },
    'bodies in small pieces': {
      connections: 100,
      request: (_, key) => `${rawHead('/v1/pets', key)}Transfer-Encoding: chunked\r\n\r\n${pieces}`,
    },
  };
}

/** Opens the connections of a load; gives the statuses that come, and its end. */
export async function startLoad(url: string, key: string, load: Load) {
  const outcomes = new Set<string>();
  const open = async (connection: number): Promise<Socket> => {
    const socket = await openSocket(Number(new URL(url).port));
    socket.setEncoding('latin1').on('data', (part: string) => {
      for (const [, status = ''] of part.matchAll(/HTTP\/1.1 (\d+)/g)) outcomes.add(status);
      socket.pause();
      if (load.readsEvery !== undefined) setTimeout(() => socket.resume(), load.readsEvery);
    });
    socket.write(load.request(connection, key));
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: load.connections }, (_, connection) => open(connection)));
  const stop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { outcomes, stop };
}
