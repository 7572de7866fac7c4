import type { Connection, RowDataPacket } from 'mysql2';
import { expect, test } from 'vitest';
import { insertRows, inTransaction } from '../../src/database/mysql-prepared.ts';
import { deadlineIn } from '../../src/deadline.ts';
import type { Int64 } from '../../src/int64.ts';
import { countPetStatements } from '../graphql/statements.ts';
import { FACES } from '../parity/faces.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

describeEachEngine('creates that arrive together', (engine) => {
  test('each is answered its own animal, whichever statement brought it', async () => {
    const gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    const statements = countPetStatements(gateway);
    const newPets = Array.from({ length: 100 }, (_, index) => ({
      name: `animal ${index}`,
      categoryId: String(2n ** 62n + BigInt(index)) as Int64,
      status: index % 2 === 0 ? ('sold' as const) : null,
    }));
    const answers = await Promise.all(newPets.map((newPet) => gateway.pets.addPet(newPet, null, deadlineIn())));
    expect(statements()).toBeLessThan(newPets.length / 5);
    expect(new Set(answers.map(({ pet }) => pet.id)).size).toBe(newPets.length);
    for (const [index, { pet }] of answers.entries()) {
      expect(pet).toEqual({ ...newPets[index], id: pet.id });
      expect(await FACES.rest.get(gateway, String(pet.id))).toEqual([pet]);
    }
  });

  test.runIf(engine.name === 'mysql')('none is added when one is refused where each has a statement', async () => {
    const gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    const { client } = gateway.database.knex; // Knex types it as any
    const connection: Connection = await client.acquireConnection();
    const insert = (name: string | null) => insertRows(connection, 'pets (name, category_id)', [[name, 1]], 1000);
    const count = async () => (await gateway.database.knex('pets').select('id')).length;
    try {
      const refused = inTransaction(connection, async () => [await insert('first'), await insert(null)]);
      await expect(refused).rejects.toThrow('null');
      expect(await count()).toBe(0);
      await inTransaction(connection, async () => [await insert('first'), await insert('second')]);
      expect(await count()).toBe(2);
    } finally {
      client.releaseConnection(connection);
    }
  });

  test.runIf(engine.name === 'mysql')('their ids are right when the server counts in steps', async () => {
    const gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    const { client } = gateway.database.knex; // Knex types it as any
    const connection: Connection = await client.acquireConnection();
    try {
      const query = connection.promise();
      await query.query('SET SESSION auto_increment_increment = 7, auto_increment_offset = 3');
      const names = Array.from({ length: 5 }, (_, index) => `animal ${index}`);
      const ids = await insertRows(
        connection,
        'pets (name, category_id, status)',
        names.map((name) => [name, 1, null]),
        1000,
      );
      const [rows] = await query.query<RowDataPacket[]>('SELECT id, name FROM pets ORDER BY id');
      expect(names.map((name, index) => ({ id: ids[index], name }))).toEqual(
        rows.map(({ id, name }) => ({ id: String(id), name })),
      );
    } finally {
      client.releaseConnection(connection);
    }
  });
});
