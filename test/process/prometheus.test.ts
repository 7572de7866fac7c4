import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { eventually, served } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { type PreparedDatabase, prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { dashboardQueries, startPrometheus, type TestPrometheus } from '../support/prometheus.ts';
import { has } from '../support/tools.ts';
import { workerOf } from './workers-of.ts';

/** A minute takes four seconds. Faster would not do: the page is made once a second at most. */
const TIMES = 15;
/** An alert that takes longer, in ms, does not come. */
const COMES_WITHIN_MS = 120_000;
const FAULTS = 40;

describe.runIf(has('prometheus'))('a Prometheus that watches a gateway', () => {
  let prepared: PreparedDatabase;
  let prometheus: TestPrometheus;
  let url: string;
  let start: (workers: number) => ReturnType<typeof startProcess>;
  let gateway: Awaited<ReturnType<typeof startProcess>>;

  beforeAll(async () => {
    prepared = await prepareDatabase(SQLITE);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    start = (workers) => startProcess({ DATABASE_URL: prepared.url, PORT: String(port), WORKERS: String(workers) });
    gateway = await start(2);
    prometheus = await startPrometheus(`127.0.0.1:${port}`, TIMES);
  });

  const request = (path: string, init?: RequestInit) =>
    send(url + path, {
      ...init,
      headers: { authorization: `Bearer ${prepared.key}`, 'content-type': 'application/json', connection: 'close' },
    });
  const graphql = (query: string) => request('/graphql', { method: 'POST', body: JSON.stringify({ query }) });
  const scrapes = async () => (await prometheus.query('sum(count_over_time(up{job="petstore"}[1h]))'))[0]?.value ?? 0;
  /** The alerts that fire, without one that is of the machine; alert-rules.test.ts has it. */
  const firing = async (by = prometheus) => (await by.firing()).filter((name) => name !== 'PetstoreEventLoopLate');
  /** Does it again and again until an alert fires, and no other one. */
  const untilFires = async (alert: string, again: () => Promise<unknown>) => {
    const fires = async () => {
      await again();
      const names = await firing();
      return names.includes(alert) && names;
    };
    expect(await eventually(fires, COMES_WITHIN_MS, alert)).toEqual([alert]);
  };
  const ends = () => eventually(async () => (await firing()).length === 0, COMES_WITHIN_MS, 'no alert');

  test('while all is well, and clients make mistakes: none fires', async () => {
    await eventually(async () => (await scrapes()) > 1, COMES_WITHIN_MS, 'a scrape');
    await served(() => request('/v1/pets')); // a key whose look-up is late uses nothing
    await request('/v1/pets/1'); // once: the use of what is deprecated is rare
    const asked = async () => {
      for (const path of ['/readyz', '/v1/pets', '/v1/pets?limit=x', '/nowhere']) await request(path);
      await graphql('{ pets { id } }');
      await graphql('{ cats }');
      return (await scrapes()) > 20;
    };
    await eventually(asked, COMES_WITHIN_MS, 'many scrapes');
    // Nor is one pending, but those of which a pause of the machine is enough.
    expect(await prometheus.query('ALERTS{alertname!~"PetstoreDown|PetstoreEventLoopLate"}')).toEqual([]);
    expect(await firing()).toEqual([]);
  });

  test.each(dashboardQueries('1h'))('the dashboard shows: %s', async (_title, expression) => {
    const samples = await prometheus.query(expression);
    expect(samples.filter(({ value }) => Number.isFinite(value))).not.toEqual([]);
  });

  test('the dashboard shows one use of what is deprecated', async () => {
    const [, expression = ''] = dashboardQueries('1h').find(([, query]) => query.includes('deprecated')) ?? [];
    const samples = await prometheus.query(expression);
    const shown = samples.map(({ labels, value }) => [labels.operation, Math.round(value)]);
    expect(Object.fromEntries(shown)).toEqual({ getPet: 1, 'Query.pet': 0 });
  });

  describe('an animal that cannot be written', () => {
    beforeAll(() => {
      using file = new DatabaseSync(prepared.url.replace('sqlite:', ''));
      file.exec(
        "PRAGMA ignore_check_constraints = 1; INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'lost')",
      );
    });

    test.each([
      ['REST', () => request('/v1/pets'), [500, 'internal_error']],
      ['GraphQL', () => graphql('{ pets { status } }'), [200, 'INTERNAL_SERVER_ERROR']],
    ] as const)(
      `%s: ${FAULTS} faults fire PetstoreInternalErrors, which ends by itself`,
      async (_api, ask, expected) => {
        for (let fault = 0; fault < FAULTS; fault++) {
          const { status, json } = await ask();
          expect([status, json.code ?? json.errors[0].extensions.code]).toEqual(expected);
        }
        await untilFires('PetstoreInternalErrors', scrapes);
        await ends();
      },
    );
  });

  test.each([
    ['REST', 'pets', () => request('/v1/pets')],
    ['GraphQL', 'pets', () => graphql('{ pets { id } }')],
    ['only probes', 'knex_migrations', () => request('/readyz')],
  ] as const)('a table is away, %s: PetstoreUnavailable fires until it is back', async (_api, table, ask) => {
    const { knex } = prepared.database;
    await knex.schema.renameTable(table, 'away');
    await untilFires('PetstoreUnavailable', ask);
    await knex.schema.renameTable('away', table);
    await ends();
  });

  const starts = async () =>
    (await prometheus.query('changes(process_start_time_seconds{job="petstore"}[1h])'))[0]?.value;

  test('a gateway that has ended: PetstoreDown; its next start is one', async () => {
    gateway.child.kill('SIGKILL');
    await untilFires('PetstoreDown', scrapes);
    gateway = await start(2);
    await ends();
    expect(await starts()).toBe(1);
  });

  test('a worker that dies again and again: PetstoreRestarts', async () => {
    // Slower: at fifteen times, a worker of a busy machine is not back three times in the range of this alert.
    const slower = await startPrometheus(new URL(url).host, 3);
    const died = async () => (await slower.query('sum(workers_died_total)'))[0]?.value;
    const isSeen = (deaths: number) => eventually(async () => (await died()) === deaths, COMES_WITHIN_MS, `${deaths}`);
    for (const deaths of [0, 1, 2, 3]) {
      if (deaths > 0) process.kill(await workerOf(gateway, COMES_WITHIN_MS), 'SIGKILL');
      await isSeen(deaths);
    }
    await eventually(async () => (await slower.firing()).includes('PetstoreRestarts'), COMES_WITHIN_MS, 'it fires');
    expect([await firing(slower), await starts()]).toEqual([['PetstoreRestarts'], 1]);
  });
});
