import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/gateway/database/connect.ts';
import { migrateUp } from '../../src/gateway/database/migrations.ts';
import { toApiError } from '../../src/gateway/errors.ts';
import { createStores, type Store } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { afterFile } from '../support/engines.ts';
import { startMysqlServer } from '../support/mysql-server.ts';
import { createRandom } from '../support/random.ts';
import { has } from '../support/tools.ts';

/** However slow the machine is, so many creates and deaths; but no longer than this, in ms. */
const CREATED_LEAST = 100;
const KILLED_LEAST = 5;
const LONGEST_MS = 30_000;
/** STRESS_SECONDS=60 for a longer run, STRESS_SERVER for the path of another server's program. */
const SECONDS = Number(process.env.STRESS_SECONDS ?? 3);
const PROGRAM = process.env.STRESS_SERVER;
const CLIENTS = 24;
const PACKET_BYTES = 64 * 1024;

describe.runIf(has('database'))('creates on a server of their own', () => {
  let admin: Connection;
  let database: Database;
  let pets: Store<typeof PETS>;

  beforeAll(async () => {
    const server = await startMysqlServer([`--max-allowed-packet=${PACKET_BYTES}`], PROGRAM);
    afterFile(server.remove);
    admin = await createConnection(server.url);
    afterFile(() => admin.end());
    await admin.query('CREATE DATABASE stressed');
    const databaseUrl = server.url.replace(/\/mysql$/, '/stressed');
    database = await connectDatabase({ databaseUrl, databasePoolMax: 10 });
    afterFile(() => database.close());
    await migrateUp(database);
    pets = createStores(database)(PETS);
  }, 240_000);

  const add = (name: string, key?: string, limitMs = 5000) => {
    const once = key === undefined ? null : { ownerId: '1', idempotencyKey: key, position: 1 };
    return pets.add({ name, categoryId: '1' as Int64, status: null }, once, deadlineIn(limitMs));
  };

  test.each([
    ['alone', () => undefined],
    ['with an Idempotency-Key', (name: string) => name.slice(0, 20)],
  ])('one that the server cannot take is refused, and the small ones beside it are not: %s', async (_how, keyOf) => {
    const names = Array.from(
      { length: 64 },
      (_, index) => `${_how} ${index}`.slice(-15) + 'é'.repeat(index % 4 === 0 ? 10_000 : 3),
    );
    const tooLarge = `${_how.slice(-4)} large ${'x'.repeat(2 * PACKET_BYTES)}`;
    const all = [...names, tooLarge];
    const outcomes = await Promise.allSettled(all.map((name) => add(name, keyOf(name), 60_000)));
    const refused = all.filter((_, index) => outcomes[index]?.status === 'rejected');
    expect(refused.map((name) => name.length)).toEqual([tooLarge.length]);
    expect(outcomes.at(-1)).toMatchObject({ reason: { meaning: 'tooLarge' } });
  });

  /** Ends connections, each of which is told, and changes how new ones count, until `isOver`. */
  const disturb = async (isOver: () => boolean, onKill: () => void) => {
    const random = createRandom(7);
    while (!isOver()) {
      await admin.query(`SET GLOBAL auto_increment_increment = ${1 + random.below(7)}`);
      await admin.query(`SET GLOBAL auto_increment_offset = ${1 + random.below(3)}`);
      const [connections] = await admin.query<RowDataPacket[]>(
        "SELECT id FROM information_schema.processlist WHERE db = 'stressed'",
      );
      if (connections.length > 0) {
        const { id, ID } = random.pick(connections);
        await admin.query(`KILL ${id ?? ID}`).then(onKill, () => {}); // it may just have ended
      }
      await delay(20);
    }
  };

  test(
    'while connections are killed and the steps of ids change, none is wrong, lost or doubled',
    async () => {
      const acknowledged = new Map<string, string>();
      const refused = new Set<string>();
      let killed = 0;
      const endsAt = performance.now() + SECONDS * 1000;
      const isOver = () => {
        const isEnough = killed > KILLED_LEAST && acknowledged.size > CREATED_LEAST;
        return performance.now() > (isEnough ? endsAt : endsAt + LONGEST_MS);
      };
      const client = async (number: number) => {
        for (let turn = 0; !isOver(); turn++) {
          const name = `stress ${number} ${turn}`;
          const key = turn % 2 === 0 ? name.replaceAll(' ', '-') : undefined;
          const note = (answer: { row: { id: unknown } }) => acknowledged.set(name, String(answer.row.id));
          // With a key, a retry is safe: it must end in one animal. Without one, nobody tries again.
          for (let attempt = 0; attempt < (key === undefined ? 1 : 20) && !acknowledged.has(name); attempt++) {
            await add(name, key).then(note, (error) => {
              expect(toApiError(error).code).toMatch(/^(?:service_unavailable|idempotency_conflict)$/);
            });
          }
          if (!acknowledged.has(name)) refused.add(name);
        }
      };
      const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
      await Promise.all([disturb(isOver, () => killed++), ...clients]);
      const [rows] = await admin.query<RowDataPacket[]>(
        "SELECT CAST(id AS CHAR) AS id, name FROM stressed.pets WHERE name LIKE 'stress %'",
      );
      const stored = Map.groupBy(rows, ({ name }) => name as string);
      const wrong = [...acknowledged].filter(([name, id]) => stored.get(name)?.[0]?.id !== id);
      const doubled = [...stored.values()].filter((same) => same.length > 1);
      const unknown = [...stored.keys()].filter((name) => !acknowledged.has(name) && !refused.has(name));
      expect({ wrong, doubled, unknown }).toEqual({ wrong: [], doubled: [], unknown: [] });
      expect(killed).toBeGreaterThan(KILLED_LEAST);
      expect(acknowledged.size).toBeGreaterThan(CREATED_LEAST);
      if (SECONDS > 3) console.info({ acknowledged: acknowledged.size, refused: refused.size, killed });
    },
    SECONDS * 1000 + 60_000,
  );
});
