import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise';
import { beforeAll, expect, test } from 'vitest';
import { afterFile, describeOnMysql } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';

const CLIENTS = 8;
const rest = async () => {};

describeOnMysql('what certainly did nothing', (engine) => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let root: Connection;
  const rowsOf = async (sql: string) => (await root.query<RowDataPacket[]>(sql))[0];

  beforeAll(async () => {
    const url = await engine.freshDatabase();
    gateway = await startGateway(engine, { DATABASE_URL: url });
    root = await mysql.createConnection(url);
    afterFile(() => root.end());
  });

  /**
   * Statuses of what some clients ask, each one thing after the other, while `work` strikes again and again: never again
   * before all is over that the last strike may have met, for what is met twice may be refused.
   */
  const during = async (
    strikes: number,
    strike: () => Promise<void>,
    ask: (index: number) => Promise<{ status: number }>,
  ) => {
    let isOver = false;
    let index = 0;
    const statuses: number[] = [];
    const answers = Array.from({ length: CLIENTS }, () => 0);
    const clients = answers.map(async (_, client) => {
      while (!isOver) {
        statuses.push((await ask(index++)).status);
        answers[client] = (answers[client] ?? 0) + 1;
      }
    });
    const work = async () => {
      for (let count = 0; count < strikes; count++) {
        await strike();
        const before = [...answers];
        const isEachAnswered = () => before.every((count, client) => (answers[client] ?? 0) > count);
        await eventually(isEachAnswered, 30_000, 'each client goes on');
      }
    };
    await work().finally(() => {
      isOver = true;
    });
    await Promise.all(clients);
    return statuses;
  };

  test('plain creates that the server rolls back (1213): every one is acknowledged, none is lost or doubled', async () => {
    // A table without transactions counts the attempts, too: each 40th row is rolled back, with all of its statement.
    await root.query('CREATE TABLE attempts (number INT) ENGINE=MyISAM SELECT 0 AS number');
    await root.query(`
      CREATE TRIGGER rolls_back BEFORE INSERT ON pets FOR EACH ROW BEGIN
        UPDATE attempts SET number = number + 1;
        IF (SELECT number % 40 FROM attempts) = 0 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF;
      END`);
    const acknowledged = new Set<string>();
    const statuses = await during(20, rest, async (index) => {
      const answer = await gateway.createPet({ name: `pet ${index}`, categoryId: 1, status: 'sold' });
      if (answer.status === 201) acknowledged.add(`pet ${index}`);
      return answer;
    });
    expect(statuses.filter((status) => status !== 201)).toEqual([]);
    const [attempts] = await rowsOf('SELECT number FROM attempts');
    expect(attempts?.number).toBeGreaterThan(statuses.length + 2);
    const names = (await rowsOf("SELECT name FROM pets WHERE name LIKE 'pet %'")).map(({ name }) => name);
    expect([names.length, new Set(names)]).toEqual([statuses.length, acknowledged]);
    await root.query('DROP TRIGGER rolls_back');
  });

  test('lists whose connections are killed: every one is answered', async () => {
    await gateway.createPet({ name: 'Rex', categoryId: 1 });
    let killed = 0;
    const kill = async () => {
      const [one] = await rowsOf(
        "SELECT id AS id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() ORDER BY command = 'Sleep'",
      );
      if (one === undefined) return;
      await root.query(`KILL ${one.id}`).then(
        () => killed++,
        () => {}, // gone by itself
      );
    };
    const statuses = await during(40, kill, (index) => gateway.request(`/v1/pets?limit=${1 + (index % 100)}`));
    expect(killed).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});
