import { expect, test } from 'vitest';
import { openSocket } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { rawGet, rawPost } from '../support/raw-requests.ts';

const BODIES = 128;
/** How many of them may be looked into before another key's list is answered: each takes some ms. */
const BEFORE_MAX = 24;
/** A machine with much else to do may hold up the client between two of its packets. */
const ROUNDS = 8;
/** Each number is looked at by itself, for an exponent may make it larger than a double holds exactly. */
const NUMBERS = `[${'1e2,'.repeat(15_900)}1]`;

test.each([
  ['/v1/pets', `{"name":"a","categoryId":${NUMBERS}}`],
  ['/graphql', `{"query":"{ pets(limit: 1) { id } }","variables":{"a":${NUMBERS}}}`],
])(
  'bodies of one key that cost much to read hold up no other key: %s',
  async (path, body) => {
    const { prepared, gateway, key } = await startPrepared(SQLITE);
    const { key: greedy } = await prepared.keys.create({ name: 'greedy', expiresAt: null });
    const open = async () => (await openSocket(gateway.port)).setNoDelay().resume();
    const request = rawPost(path, greedy, body);
    const list = rawGet('/v1/pets?limit=1', key);
    const polite = await open();
    const sockets = await Promise.all(Array.from({ length: BODIES }, open));
    // The log tells in which order the gateway was done with them, whenever we come to know it.
    const done = () => gateway.stdout().match(/^.*"status":.*$/gm) ?? [];
    let before = BODIES;
    for (let round = 0; round < ROUNDS && before > BEFORE_MAX; round++) {
      const begun = done().length;
      for (const socket of sockets) socket.write(request.slice(0, -1));
      polite.write(list); // when that is answered, most of the rest is there
      await eventually(() => done().length === begun + 1, 10_000, 'the first list is logged');
      for (const socket of sockets) socket.write(request.slice(-1));
      polite.write(list);
      await eventually(() => done().length === begun + 2 + BODIES, 30_000, 'all are answered');
      const since = done().slice(begun + 1);
      before = since.findIndex((entry) => entry.includes('"method":"GET"'));
    }
    expect(before).toBeLessThanOrEqual(BEFORE_MAX);
  },
  240_000,
);
