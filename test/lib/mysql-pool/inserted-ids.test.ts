import { describe, expect, test } from 'vitest';
import { means } from '../../../src/lib/mysql-errors/mysql-errors.ts';
import { areKept, idRuleOf, insertRows, readKept } from '../../../src/lib/mysql-pool/added-rows.ts';
import type { MysqlConnection } from '../../../src/lib/mysql-pool/mysql-connection.ts';

const ROWS = [['Rex'], ['Ada'], ['Kim']];
const INTO = { table: 'pets', columns: ['name'] };
const insertOf = (count: number) => `INSERT INTO pets (name) VALUES ${Array(count).fill('(?)')}`;

interface ServerFacts {
  readonly variables: Record<string, string>;
  /** How many rows it tells of; by default all. */
  readonly told?: number;
  /** The id of a row where a trigger gives one. */
  readonly given?: (place: number) => number | undefined;
  /** What LAST_INSERT_ID() is, when no id was made. */
  readonly lastMade?: number;
  /** What a trigger makes of a value. */
  readonly keeps?: (value: unknown) => unknown;
}

/** A connection to a server: it makes the ids from 100 on, in steps of 7. */
function connectTo({ variables, told, given = () => undefined, lastMade = 0, keeps = (value) => value }: ServerFacts) {
  const asked: string[] = [];
  const stored: Record<string, unknown>[] = [];
  let made = lastMade;
  let next = 100;
  const insert = (values: readonly unknown[]) => {
    const ids = values.map((value, place) => {
      const id = given(place) ?? next;
      if (id === next) {
        if (made < 100) made = id;
        next += 7;
      }
      stored.push({ id, name: keeps(value) });
      return id;
    });
    return { insertId: BigInt.asUintN(64, BigInt((made < 100 ? ids.at(-1) : made) ?? 0)) };
  };
  const driver = {
    execute({ sql, values }: { sql: string; values: unknown[] }, settle: (error: null, answer: unknown) => void) {
      asked.push(sql);
      if (sql.startsWith('SELECT'))
        return settle(
          null,
          stored.map((row) => ({ made, ...row })),
        );
      const { insertId } = insert(values);
      settle(null, sql.endsWith('RETURNING id, name') ? stored.slice(0, told) : { insertId });
    },
  } as unknown as MysqlConnection['driver']; // all that an INSERT asks of it
  const session = { connection: { driver }, idRule: idRuleOf(new Map(Object.entries(variables))) };
  return { session, asked };
}

async function isAddedAndKept(session: ReturnType<typeof connectTo>['session'], rows: typeof ROWS) {
  const { ids, kept } = await insertRows(session, INTO, rows);
  return areKept(INTO, rows, ids, kept ?? (await readKept(session, INTO, ids)));
}

const IN_STEPS = { version: '8.4.3', auto_increment_increment: '7' };
const WITHOUT_RULE = { ...IN_STEPS, version_comment: 'Percona XtraDB Cluster' };
const RETURNING = { version: '11.8.2-MariaDB', auto_increment_increment: '1' };

describe('the ids of rows that are added', () => {
  test.each([
    ['follow from the first one', IN_STEPS, ROWS, [insertOf(3)]],
    ['follow from the first one, one by itself', IN_STEPS, [['Rex']], [insertOf(1)]],
    ['are told by MariaDB', RETURNING, ROWS, [`${insertOf(3)} RETURNING id, name`]],
    ['are told of a single row', WITHOUT_RULE, [['Rex']], [insertOf(1)]],
  ])('%s', async (_how, variables, rows, statements) => {
    const { session, asked } = connectTo({ variables });
    const { ids } = await insertRows(session, INTO, rows);
    expect(ids).toEqual(['100', '107', '114'].slice(0, rows.length));
    expect(asked).toEqual(statements);
  });

  test('are not known of several rows where the step may change: each must be sent alone', async () => {
    const { session, asked } = connectTo({ variables: WITHOUT_RULE });
    const refused = await insertRows(session, INTO, ROWS).catch((error: unknown) => error);
    expect([means(refused, 'rowRefused'), asked]).toEqual([true, []]);
  });

  test.each<[how: string, facts: Partial<ServerFacts>, expected: boolean]>([
    ['as they were told', {}, true],
    ['others, when a trigger gives all, upwards', { given: (place) => 5000 + place * 7 }, false],
    ['others, when a trigger gives all, downwards', { given: (place) => 5000 - place * 7 }, false],
    ['others, when the last was the last one made', { given: (place) => 114 - place * 7, lastMade: 100 }, false],
    ['others, when a trigger gives one of them', { given: (place) => [undefined, 5000][place] }, false],
    ['others, when a trigger gives the first one', { given: (place) => [5000][place] }, false],
    ['others, in another order', { given: (place) => [undefined, 114, 107][place] }, false],
    ['nobody knows whose, when a trigger changes a name', { keeps: () => 'Tom' }, false],
    ['nobody knows whose, when one becomes null', { keeps: (name) => (name === 'Ada' ? null : name) }, false],
  ])('are %s', async (_how, facts, expected) => {
    const { session } = connectTo({ variables: IN_STEPS, ...facts });
    expect(await isAddedAndKept(session, ROWS)).toBe(expected);
  });

  test.each([
    ['as it was sent', IN_STEPS, {}, true],
    ['as it was sent, when a trigger gives its id', IN_STEPS, { given: () => 5000 }, true],
    ['nobody knows which, when a trigger changes its name', IN_STEPS, { keeps: () => 'Tom' }, false],
    ['nobody knows which, when a trigger changes its name on MariaDB', RETURNING, { keeps: () => 'Tom' }, false],
    ['nobody knows which, when its name is no text any more', IN_STEPS, { keeps: () => Buffer.from('Rex') }, false],
  ])('are, of one row, %s', async (_what, variables, facts: Partial<ServerFacts>, expected) => {
    const { session } = connectTo({ variables, ...facts });
    expect(await isAddedAndKept(session, [['Rex']])).toBe(expected);
  });

  test('below zero are known as such, though the server tells them without a sign', async () => {
    const { session, asked } = connectTo({ variables: IN_STEPS, given: () => -2 });
    expect(await insertRows(session, INTO, [['Rex']])).toEqual({ ids: ['-2'] });
    expect(asked).toHaveLength(1);
  });

  test('are not known of a row when the server tells none', async () => {
    const { session } = connectTo({ variables: IN_STEPS, given: () => 0 });
    const refused = await insertRows(session, INTO, [['Rex']]).catch((error: unknown) => error);
    expect(means(refused, 'unknownOutcome')).toBe(true);
  });

  test('are not taken from an answer that is not about as many rows', async () => {
    const { session } = connectTo({ variables: RETURNING, told: 2 });
    await expect(insertRows(session, INTO, ROWS)).rejects.toThrow('an answer to something else');
  });
});
