import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { connectClient, eventually, isRefused, petBody, readFootprint, STRESS_SECONDS } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';

const SECONDS = STRESS_SECONDS || 30;
const CLIENTS = 8;
/** A pause between two requests of a client: the soak is to be long, not heavy. */
const PAUSE_MS = 5;
const LIST = '{"query":"{ pets(limit: 10) { id name } }"}';

test.each(ENGINES.slice(-1))(
  `$name › ${SECONDS} seconds of mixed load: every answer right, memory and handles flat`,
  { timeout: (SECONDS + 240) * 1000 }, // the start, the first animal and the warming up included
  async (engine: TestEngine) => {
    // A leak would soon fill so small a heap, and end the process. V8 lets the young generation grow under load, by as much
    // as a leak that we look for: here it may not.
    const NODE_OPTIONS = '--max-old-space-size=96 --max-semi-space-size=8';
    const { gateway, key } = await startPrepared(engine, { NODE_OPTIONS });
    const wrong: string[] = [];
    let location = ''; // of an animal; a create that is refused may use up an id
    let served = 0;
    let shed = 0;
    let stopped = false;
    const client = async (number: number): Promise<void> => {
      const { ask } = connectClient(gateway.url, key);
      const requests = [
        () => ask('GET', '/v1/pets?limit=10'),
        () =>
          ask('POST', '/v1/pets', petBody(`soak-${number}-${served}`), { 'idempotency-key': `${number}-${served}` }),
        () => ask('GET', location),
        () => ask('POST', '/graphql', LIST),
        () => ask('GET', '/v1/pets?limit=0'),
        () => ask('GET', '/v1/pets', undefined, { authorization: `Bearer wrong-${served}` }),
      ];
      const right = [200, 201, 200, 200, 400, 401];
      for (let round = 0; !stopped; round++) {
        const index = round % requests.length;
        const answer = await requests[index]?.();
        if (answer?.status === right[index]) served++;
        else if (answer?.headers['retry-after'] && isRefused(answer)) shed++;
        else wrong.push(`${answer?.status} ${answer?.text}`);
        await delay(PAUSE_MS);
      }
    };
    const first = connectClient(gateway.url, key);
    const create = async () => (await first.ask('POST', '/v1/pets', petBody('the first'))).headers.location;
    location = await eventually(create, 30_000, 'the first animal');
    const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
    await delay(SECONDS * 250);
    // On a slow machine, what is made once may not be made yet.
    await eventually(() => served > 1000, 120_000, 'warm');
    const before = await readFootprint(gateway.url);
    await delay(SECONDS * 750);
    const after = await readFootprint(gateway.url);
    stopped = true;
    await Promise.all(clients);
    console.log(`${engine.name} soak, ${SECONDS} s:`, JSON.stringify({ served, shed, before, after }));
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(served).toBeGreaterThan(shed);
    expect(after.residentMb - before.residentMb).toBeLessThan(50);
    expect(Math.abs(after.openFiles - before.openFiles)).toBeLessThan(10);
    await gateway.stop();
  },
);
