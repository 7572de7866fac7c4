import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { connectClient, eventually, type LoadAnswer, petBody, STRESS_SECONDS } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';

const CLIENTS = 12;
const KILLS = 2;
/** Before each kill, and after the last one: so many more animals, and a load of so many ms. */
const ACKNOWLEDGED_LEAST = 20 * CLIENTS;
const LOAD_MS = STRESS_SECONDS * 1000;

/** One client's connection, which the gateway's death may break: then undefined, and the next request uses a new one. */
function connectThroughDeaths(url: string, key: string) {
  let client = connectClient(url, key);
  return async (...request: Parameters<typeof client.ask>): Promise<LoadAnswer | undefined> => {
    try {
      return await client.ask(...request);
    } catch {
      client.close();
      client = connectClient(url, key);
      await delay(20); // until somebody listens again
      return undefined;
    }
  };
}

describeEachEngine('kill -9 during a load of creates', (engine) => {
  test(
    'every acknowledged animal is there once; with Idempotency-Key and retries each is there exactly once',
    async () => {
      const prepared = await prepareDatabase(engine);
      const env = { DATABASE_URL: prepared.url, PORT: String(await freePort()) };
      let gateway = await startProcess(env);
      const acknowledged = new Map<string, string>();
      const logical = new Set<string>();
      const wrong: string[] = [];
      let stopped = false;

      const note = (name: string, { status, text }: LoadAnswer): boolean => {
        if (status === 503 || status === 409) return false; // an honest "again"
        if (status !== 201) wrong.push(`${name}: ${status} ${text}`);
        const id = /"id":(\d+)/.exec(text)?.[1] ?? '';
        if ((acknowledged.get(name) ?? id) !== id) wrong.push(`${name}: ${id} after ${acknowledged.get(name)}`);
        acknowledged.set(name, id);
        return true;
      };
      const client = async (number: number): Promise<void> => {
        const ask = connectThroughDeaths(gateway.url, prepared.key);
        for (let round = 0; !stopped; round++) {
          const name = `kill-${number}-${round}`;
          const retries = number % 2 === 0;
          if (retries) logical.add(name);
          const headers: Record<string, string> = retries ? { 'idempotency-key': name } : {};
          for (let done = false; !done; ) {
            const answer = await ask('POST', '/v1/pets', petBody(name), headers);
            done = (answer !== undefined && note(name, answer)) || !retries;
          }
        }
      };
      const underLoad = async () => {
        const enough = acknowledged.size + ACKNOWLEDGED_LEAST;
        await delay(LOAD_MS);
        await eventually(() => acknowledged.size >= enough, 60_000, 'animals are created');
      };
      const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
      for (let kill = 0; kill < KILLS; kill++) {
        await underLoad();
        gateway.child.kill('SIGKILL');
        expect((await gateway.exited).signal).toBe('SIGKILL');
        gateway = await startProcess(env);
      }
      await underLoad();
      stopped = true;
      await Promise.all(clients);

      const counts = await prepared.countNames();
      expect(wrong).toEqual([]);
      expect([...acknowledged.keys()].filter((name) => counts.get(name) !== 1)).toEqual([]);
      expect([...logical].filter((name) => counts.get(name) !== 1)).toEqual([]);
      expect([...counts].filter(([, count]) => count !== 1)).toEqual([]);
      expect(logical.size).toBeGreaterThan(CLIENTS);
      expect(acknowledged.size).toBeGreaterThan(logical.size);
      // What the database says under an acknowledged id is what was sent.
      const rows: { id: string | number; name: string }[] = await prepared.database.knex('pets').select('id', 'name');
      const names = new Map(rows.map(({ id, name }) => [String(id), name]));
      expect([...acknowledged].filter(([name, id]) => names.get(id) !== name)).toEqual([]);
    },
    240_000 + 4 * LOAD_MS,
  );
});
