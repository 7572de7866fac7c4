import { setImmediate as turn } from 'node:timers/promises';
import type { Knex } from 'knex';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/gateway/database/connect.ts';
import type { Into } from '../../src/gateway/kinds.ts';
import { createRowAdder } from '../../src/gateway/store/row-adder.ts';
import { defineTable } from '../../src/gateway/store/table.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';

const NOTES = defineTable('notes', { text: { kind: 'text' } });
const PACKET_BYTES = 1024;
/** What a text may have at the most: all but the statement's own bytes, and those that tell its length. */
const TEXT_BYTES = PACKET_BYTES - 256 - 9;

/** The adder on a server that takes small packets, with what it is sent. */
function createNotes() {
  const inserted: unknown[] = [];
  const insert = async (_into: Into, rows: readonly unknown[]) => {
    if (rows.flat().includes('refused')) throw new Error('on purpose');
    inserted.push(...rows);
    return rows.map((_row, index) => String(index + 1));
  };
  // All that an adder asks of a database.
  const database = {
    engine: 'mysql',
    connectionsMax: 4,
    roundTripMs: () => 0,
    packetBytes: () => PACKET_BYTES,
    insert,
  } as unknown as Database;
  const transaction = {
    isCompleted: () => false,
    client: {
      acquireConnection: async () => ({}),
      insertOn: (_connection: object, ...rest: [Into, unknown[]]) => insert(...rest),
    },
  } as unknown as Knex.Transaction; // all that it asks of a transaction
  const adder = createRowAdder(database, NOTES);
  const add = (text: string) => adder.add({ text }, deadlineIn(5000));
  const rowsOf = (texts: readonly string[]) => texts.map((text) => ({ text }));
  const addWithin = (texts: readonly string[]) => adder.addWithin(transaction, rowsOf(texts));
  return { add, addWithin, acquireIdLock: adder.acquireIdLock, inserted };
}

describe('a row is as large as its bytes', () => {
  test.each([
    ['the longest', 'x'.repeat(TEXT_BYTES), true],
    ['one letter more', 'x'.repeat(TEXT_BYTES + 1), false],
    ['the longest, of three bytes each', '€'.repeat(TEXT_BYTES / 3), true],
    ['letters of three bytes', '€'.repeat(TEXT_BYTES / 3 + 1), false],
    ['letters of four bytes', '🐢'.repeat(TEXT_BYTES / 4 + 1), false],
  ])('%s', async (_what, text, fits) => {
    const { add, addWithin, inserted } = createNotes();
    for (const adding of [() => add(text), () => addWithin([text])]) {
      if (fits) await expect(adding()).resolves.toBeDefined();
      else await expect(adding()).rejects.toMatchObject({ name: 'DatabaseFault', meaning: 'tooLarge' });
    }
    expect(inserted).toHaveLength(fits ? 2 : 0);
  });

  test('rows of one statement are counted together', async () => {
    const { addWithin, inserted } = createNotes();
    const half = 'x'.repeat(TEXT_BYTES / 2);
    await expect(addWithin([half, half])).rejects.toMatchObject({ meaning: 'tooLarge' });
    expect(inserted).toEqual([]);
  });
});

test.each(['added', 'refused'])('the lock of the ids is free again when a row was %s', async (text) => {
  const { add, acquireIdLock } = createNotes();
  await Promise.allSettled([add(text)]);
  const release = await Promise.race([acquireIdLock(), turn()]);
  expect(release).toBeTypeOf('function');
  release?.();
});
