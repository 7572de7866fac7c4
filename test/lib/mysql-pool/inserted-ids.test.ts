import { describe, expect, test } from 'vitest';
import { means } from '../../../src/lib/mysql-errors/mysql-errors.ts';
import type { MysqlConnection } from '../../../src/lib/mysql-pool/mysql-connection.ts';
import { idRuleOf, insertRows } from '../../../src/lib/mysql-pool/prepared-statements.ts';

const ROWS = [['Rex'], ['Ada'], ['Kim']];
const INTO = 'pets (name)';
const insertOf = (count: number) => `INSERT INTO pets (name) VALUES ${Array(count).fill('(?)').join(', ')}`;

/** A connection to a server with these variables: whatever it inserts gets the ids from 100 on, in steps of 7; it tells `told` of them. */
function connectTo(variables: Record<string, string>, told?: number) {
  const asked: string[] = [];
  let next = 100;
  const driver = {
    execute({ sql, values }: { sql: string; values: unknown[] }, settle: (error: null, answer: unknown) => void) {
      asked.push(sql);
      const first = next;
      next += 7 * values.length;
      const rows = values.map((_, index) => ({ id: first + 7 * index })).slice(0, told);
      settle(null, sql.endsWith('RETURNING id') ? rows : { insertId: first });
    },
  } as unknown as MysqlConnection['driver']; // all that an INSERT asks of it
  const session = { connection: { driver }, idRule: idRuleOf(new Map(Object.entries(variables))) };
  return { session, asked };
}

const IN_STEPS = { version: '8.4.3', auto_increment_increment: '7' };
const WITHOUT_RULE = { ...IN_STEPS, version_comment: 'Percona XtraDB Cluster' };
const RETURNING = { version: '11.8.2-MariaDB', auto_increment_increment: '1' };

describe('the ids of rows that are added', () => {
  test.each([
    ['follow from the first one', IN_STEPS, ROWS, [insertOf(3)]],
    ['follow from the first one, one by itself', IN_STEPS, [['Rex']], [insertOf(1)]],
    ['are told by MariaDB', RETURNING, ROWS, [`${insertOf(3)} RETURNING id`]],
    ['are told of a single row', WITHOUT_RULE, [['Rex']], [insertOf(1)]],
  ])('%s', async (_how, variables, rows, statements) => {
    const { session, asked } = connectTo(variables);
    expect(await insertRows(session, INTO, rows)).toEqual(['100', '107', '114'].slice(0, rows.length));
    expect(asked).toEqual(statements);
  });

  test('are not known of several rows where the step may change: each must be sent alone', async () => {
    const { session, asked } = connectTo(WITHOUT_RULE);
    const refused = await insertRows(session, INTO, ROWS).catch((error: unknown) => error);
    expect([means(refused, 'rowRefused'), asked]).toEqual([true, []]);
  });

  test('are not taken from an answer that is not about as many rows', async () => {
    const { session } = connectTo(RETURNING, 2);
    await expect(insertRows(session, INTO, ROWS)).rejects.toThrow('an answer to something else');
  });
});
