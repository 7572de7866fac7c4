import { expect, test } from 'vitest';
import { isRefused } from '../../src/gateway/database/faults.ts';
import { checkWrites } from '../../src/gateway/store/write-check.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { prepareDatabase } from '../support/prepared.ts';

const COLLATED = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

/** What an operator does to the table of animals, and what a write check says of it. */
const CHANGES: Readonly<
  Record<'mysql' | 'sqlite', readonly (readonly [what: string, statement: string, said: string])[]>
> = {
  mysql: [
    [
      'a type that drops blanks',
      `ALTER TABLE pets MODIFY name CHAR(255) ${COLLATED} NOT NULL`,
      'pets.name does not keep',
    ],
    ['a type that is too short', `ALTER TABLE pets MODIFY name VARCHAR(255) ${COLLATED} NOT NULL`, 'some'],
    ['latin1', 'ALTER TABLE pets MODIFY name MEDIUMTEXT CHARACTER SET latin1 NOT NULL', 'some'],
    ['fewer words', "ALTER TABLE pets MODIFY status ENUM('available', 'sold') NULL", 'some'],
    ['no null', "ALTER TABLE pets MODIFY status ENUM('available', 'pending', 'sold') NOT NULL", 'some'],
    ['a smaller integer', 'ALTER TABLE pets MODIFY category_id INT NOT NULL', 'some'],
    ['an unsigned integer', 'ALTER TABLE pets MODIFY category_id BIGINT UNSIGNED NOT NULL', 'some'],
    ['a unique name', 'ALTER TABLE pets ADD UNIQUE INDEX one_name (name(50))', 'some'],
    ['ids that nobody gives', 'ALTER TABLE pets MODIFY id BIGINT NOT NULL', "Field 'id' doesn't have a default value"],
    [
      'a further column without a default',
      'ALTER TABLE pets ADD COLUMN age INT NOT NULL',
      "Field 'age' doesn't have a default value",
    ],
    [
      'a trigger that refuses',
      "CREATE TRIGGER refuse BEFORE INSERT ON pets FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'",
      'some',
    ],
    [
      'a trigger that trims',
      'CREATE TRIGGER trim BEFORE INSERT ON pets FOR EACH ROW SET NEW.name = TRIM(NEW.name)',
      'pets.name does not keep',
    ],
    [
      'a trigger that gives ids',
      'CREATE TRIGGER ids BEFORE INSERT ON pets FOR EACH ROW SET NEW.id = UUID_SHORT()',
      'undefined', // each id is known of a row alone
    ],
  ],
  sqlite: [
    [
      'a trigger that trims',
      'CREATE TRIGGER trim AFTER INSERT ON pets BEGIN UPDATE pets SET name = TRIM(name) WHERE id = NEW.id; END',
      'pets.name does not keep',
    ],
    [
      'a trigger that changes ids',
      'CREATE TRIGGER ids AFTER INSERT ON pets BEGIN UPDATE pets SET id = id + 1000 WHERE id = NEW.id; END',
      'some',
    ],
    ['a unique name', 'CREATE UNIQUE INDEX one_name ON pets (name)', 'some'],
    [
      'a trigger that refuses',
      "CREATE TRIGGER refuse BEFORE INSERT ON pets BEGIN SELECT RAISE(ABORT, 'no'); END",
      'some',
    ],
  ],
};

describeEachEngine('a schema that was changed by hand', (engine) => {
  test.each(CHANGES[engine.name])('%s: %s', async (_what, statement, expected) => {
    const { database } = await prepareDatabase(engine);
    expect(await checkWrites(database, [PETS])).toBe(undefined);
    await database.knex.raw(statement);
    const kept = await checkWrites(database, [PETS], { ids: 'of ours' }).catch(() => undefined);
    const said = await checkWrites(database, [PETS]).catch((error) =>
      isRefused(error) ? 'some' : String(error.cause),
    );
    expect(String(kept ?? said)).toContain(expected);
    expect(await database.knex('pets').select()).toEqual([]);
  });

  test.runIf(engine.name === 'mysql')(
    'of a server that tells the id of a single row only, nothing is said',
    async () => {
      const { database } = await prepareDatabase(engine);
      const { client } = database.knex; // Knex types it as any
      const session = await client.acquireConnection(); // lent again next: the last one that came back
      session.idRule = undefined; // as on XtraDB Cluster
      await client.releaseConnection(session);
      expect(await checkWrites(database, [PETS])).toBe(undefined);
    },
  );

  test.runIf(engine.name === 'mysql')(
    'that makes a write take too long is no refusal: a start says nothing',
    async () => {
      const { database, url } = await prepareDatabase(engine);
      await database.knex.raw('CREATE TRIGGER wait BEFORE INSERT ON pets FOR EACH ROW SET @slept = SLEEP(4)');
      const { logs } = await startGateway(engine, { DATABASE_URL: url });
      expect(logs.filter(({ msg }) => String(msg).includes('refuses writes'))).toEqual([]);
    },
  );

  test('ends a start when it changes what is written, and is told when it refuses', async () => {
    const { database, url } = await prepareDatabase(engine);
    const isMysql = engine.name === 'mysql';
    const trim = isMysql
      ? 'BEFORE INSERT ON pets FOR EACH ROW SET NEW.name = TRIM(NEW.name)'
      : 'AFTER INSERT ON pets BEGIN UPDATE pets SET name = TRIM(name) WHERE id = NEW.id; END';
    await database.knex.raw(`CREATE TRIGGER trim ${trim}`);
    await expect(startGateway(engine, { DATABASE_URL: url })).rejects.toThrow('changes what is written: pets.name');
    await database.knex.raw('DROP TRIGGER trim');
    await database.knex.raw(`CREATE UNIQUE INDEX one_name ON pets (${isMysql ? 'name(50)' : 'name'})`);
    const gateway = await startGateway(engine, { DATABASE_URL: url });
    expect(gateway.logs.filter(({ msg }) => String(msg).includes('refuses writes'))).toHaveLength(1);
    const { json } = await gateway.createPet({ name: 'Rex', categoryId: 1 });
    expect(json.id, 'no id was used up').toBe(1);
  });
});
