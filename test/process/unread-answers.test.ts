import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { createStores } from '../../src/store/store.ts';
import { afterFile, describeEachEngine } from '../support/engines.ts';
import { connectClient, eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';

const READERS = 150;
/** Names as long as the default BODY_LIMIT allows: a page of a hundred has 6.5 MB. */
const NAME_LENGTH = 65_000;
/** Far less than the answers that are asked for; the process ends when it does not suffice. */
const HEAP_MB = 512;

describeEachEngine('readers that do not read', (engine) => {
  test('of long pages do not exhaust the memory, and another key is served meanwhile', async () => {
    const { url: DATABASE_URL, database, keys, key } = await prepareDatabase(engine);
    const pets = createStores(database)(PETS);
    const name = 'x'.repeat(NAME_LENGTH);
    for (let ten = 0; ten < 25; ten++) {
      await pets.addAll(Array.from({ length: 10 }, () => ({ name, categoryId: '1' as never, status: null }))); // digits
    }
    const { key: greedy } = await keys.create({ name: 'greedy', expiresAt: null });
    const gateway = await startProcess({ DATABASE_URL, NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
    for (let reader = 0; reader < READERS; reader++) {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => {});
      afterFile(() => void socket.destroy());
      await once(socket, 'connect');
      socket.write(
        `GET /v1/pets?limit=100&after=${reader} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy}\r\n\r\n`,
      );
    }
    await delay(3000);
    const polite = connectClient(gateway.url, key);
    const answer = await eventually(
      async () => {
        const answer = await polite.ask('GET', '/v1/pets?limit=1');
        return answer.status === 200 && answer;
      },
      10_000,
      'another key is served',
    );
    expect(answer.text).toContain('xxx');
    expect(gateway.child.exitCode).toBeNull();
  });
});
