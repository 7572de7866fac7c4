import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { send } from '../support/client.ts';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { eventually, readMetrics, sumMetric } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { dashboardQueries, deployed } from '../support/prometheus.ts';
import { has } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';

const runFile = promisify(execFile);

/** The values of series, in promtool's notation, by their names with labels: one for each scrape, by default every 15 s. */
type Series = Readonly<Record<string, string>>;

/** So many samples after the first one, of an hour and more. */
const HOUR = 260;
/** How long a quiet machine is waited for, in ms: six times, within the time of a hook. */
const QUIET_WITHIN_MS = 35_000;
const UP = 'up{job="petstore",instance="one"}';
const FIRING = 'sum by (alertname) (ALERTS{alertstate="firing"})';

const labelled = (name: string, labels: string, job: string) =>
  `${name}{${[`job="${job}",instance="one"`, ...(labels === '' ? [] : [labels])].join(',')}}`;

/** A page of metrics as series of an hour: counts go on as from `before` to `page`, all else stays. */
function seriesOf(page: string, before: string, job = 'petstore'): Series {
  const earlier = new Map(valuesOf(before));
  const growing = [...page.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name]) => name ?? '');
  return Object.fromEntries(
    valuesOf(page).map(([series, value]) => {
      const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
      const grows = growing.some((one) => name.startsWith(one));
      const step = grows ? value - (earlier.get(series) ?? 0) : 0;
      return [labelled(name, labels, job), `${value}+${step}x${HOUR}`];
    }),
  );
}

function valuesOf(page: string): [series: string, value: number][] {
  const lines = page.split('\n').filter((line) => /^\w.* [\d.e+-]+$/.test(line));
  return lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]);
}

/** Asks promtool whether each expression gives these values at these minutes; it says what it got instead. */
async function expectValues(
  series: Series,
  expected: readonly { expression: string; minute: number; values: Readonly<Record<string, number>> }[],
  interval = '15s',
): Promise<void> {
  const file = join(temporaryFolder(), 'test.yml');
  const tests = {
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: expected.map(({ expression, minute, values }) => ({
      expr: expression,
      eval_time: `${minute}m`,
      exp_samples: Object.entries(values).map(([labels, value]) => ({ labels, value })),
    })),
  };
  const rules = { rule_files: [deployed('alerts.yml')], evaluation_interval: '15s', tests: [tests] };
  writeFileSync(file, JSON.stringify(rules)); // JSON is YAML
  await expect(runFile('promtool', ['test', 'rules', file])).resolves.toBeDefined();
}

/** Expects exactly these alerts at these minutes. */
const expectAlerts = (series: Series, alerts: Readonly<Record<number, readonly string[]>>, interval?: string) =>
  expectValues(
    series,
    Object.entries(alerts).map(([minute, names]) => ({
      expression: FIRING,
      minute: Number(minute),
      values: Object.fromEntries(names.map((name) => [`{alertname="${name}"}`, 1])),
    })),
    interval,
  );

const every = (minutes: readonly number[], names: readonly string[]) =>
  Object.fromEntries(minutes.map((minute) => [minute, names]));
const MINUTES = Array.from({ length: 60 }, (_, minute) => minute + 1);

const failed = (api: string, status: number) =>
  `http_requests_failed_total{job="petstore",instance="one",api="${api}",status="${status}"}`;
const graphqlError = (code: string) => `graphql_errors_total{job="petstore",instance="one",code="${code}"}`;
const meter = (name: string) => `${name}{job="petstore",instance="one"}`;
const WAITING = 'database_pool_connections{job="petstore",instance="one",state="waiting"}';

/** Trouble that begins after ten quiet minutes, the samples 0 to 40; and which alerts fire at which minutes. */
const TROUBLE: readonly (readonly [
  what: string,
  series: Series,
  alerts: Readonly<Record<number, readonly string[]>>,
])[] = [
  ['no answer', { [UP]: '1x40 0x20' }, { 11: [], 12: ['PetstoreDown'] }],
  ['no answer for half a minute', { [UP]: '1x40 0x1 1x240' }, every(MINUTES, [])],
  ['40 answers of 500', { [failed('rest', 500)]: '0x40 40x60' }, { 10: [], 11: ['PetstoreInternalErrors'], 16: [] }],
  ['one page of 500', { [failed('other', 500)]: '0x40 1x60' }, { 11: ['PetstoreInternalErrors'], 16: [] }],
  [
    '40 faults of GraphQL',
    { [graphqlError('INTERNAL_SERVER_ERROR')]: '0x40 40x60' },
    { 10: [], 11: ['PetstoreInternalErrors'], 16: [] },
  ],
  ...[failed('rest', 503), failed('graphql', 503), failed('other', 503), graphqlError('SERVICE_UNAVAILABLE')].flatMap(
    (series) =>
      [
        [
          `three minutes of ${series}`,
          { [series]: '0x40 1+1x12 13x60' },
          { 13: [], 15: ['PetstoreUnavailable'], 17: [] },
        ],
        [`half a minute of ${series}`, { [series]: '0x40 1+1x2 3x60' }, every(MINUTES, [])],
      ] as const,
  ),
  ['refusals of clients', { [graphqlError('BAD_USER_INPUT')]: '0+40x240' }, every(MINUTES, [])],
  [
    'a third start in 15 minutes',
    { [meter('process_start_time_seconds')]: '1x40 2x10 3x10 4x80' },
    { 14: [], 16: ['PetstoreRestarts'], 31: [] },
  ],
  ['a start every ten minutes', { [meter('process_start_time_seconds')]: '1x39 2x39 3x39 4x39' }, every(MINUTES, [])],
  [
    'workers that die',
    { [meter('workers_died_total')]: '0x40 1x10 2x10 3x80' },
    { 14: [], 16: ['PetstoreRestarts'], 31: [] },
  ],
  ['requests that wait for connections', { [WAITING]: '0x40 3x60' }, { 15: [], 16: ['PetstoreWaitsForConnections'] }],
  ['requests that wait for four minutes', { [WAITING]: '0x40 3x16 0x60' }, every(MINUTES, [])],
  [
    'a key that expires, over a restart and until it is rotated',
    { [meter('api_keys_expiring')]: '0x40 1x20 0x1 1x20 0x80' },
    { 10: [], 11: ['PetstoreKeysExpire'], 16: ['PetstoreKeysExpire'], 35: [] },
  ],
  [
    'a late event loop',
    { [meter('nodejs_eventloop_lag_p99_seconds')]: '0.01x40 0.3x60' },
    { 15: [], 16: ['PetstoreEventLoopLate'] },
  ],
  [
    'overload, whose refusals are 503',
    { [meter('http_requests_shed_total')]: '0x40 1+1x60', [failed('rest', 503)]: '0x40 1+1x60' },
    { 13: [], 15: ['PetstoreUnavailable'], 16: ['PetstoreSheds', 'PetstoreUnavailable'] },
  ],
];

describe.runIf(has('prometheus'))('the alerts, by promtool', () => {
  let quiet: Series;
  let strangers: Series;

  beforeAll(async () => {
    const { gateway, key } = await startPrepared(SQLITE, { WORKERS: '2' });
    await gateway.waitFor(/(?:listening on[\s\S]*){2}/);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' };
    const ask = (path: string, body?: string) =>
      send(gateway.url + path, { headers, ...(body !== undefined && { method: 'POST', body }) });
    const scrape = async () => {
      const page = await readMetrics(gateway.url);
      // Else the machine is not quiet.
      return sumMetric(page, 'nodejs_eventloop_lag_p99_seconds') < 0.1 && page;
    };
    /** What comes at any time, mistakes of clients too. */
    const askAll = async () => {
      for (const path of ['/livez', '/readyz', '/v1/pets', '/v1/pets/1', '/v1/pets?limit=x', '/nowhere'])
        await ask(path);
      for (const body of ['{"name":"Rex","categoryId":1}', '{']) await ask('/v1/pets', body);
      for (const query of ['{ pets { id } }', '{ pet(id: 1) { id } }', '{ cats }'])
        await ask('/graphql', JSON.stringify({ query }));
      await send(`${gateway.url}/v1/pets`);
    };
    /** A page, a round of requests, and the page after it; before it there were so many rounds. */
    const measure = async (rounds: number) => {
      const before = await eventually(scrape, QUIET_WITHIN_MS, 'a quiet page');
      await askAll();
      const isLater = async () => {
        const page = await scrape();
        return page && sumMetric(page, 'deprecated_use_total') === 2 * (rounds + 1) && page;
      };
      return { before, page: await eventually(isLater, QUIET_WITHIN_MS, 'a later page') };
    };
    const failures = (page: string) =>
      sumMetric(page, 'http_requests_failed_total') +
      sumMetric(page, 'graphql_errors_total', 'code="SERVICE_UNAVAILABLE"');
    await askAll();
    let { before, page } = await measure(1);
    // A machine that was held up has refused some.
    for (let rounds = 2; failures(page) > failures(before) && rounds < 4; rounds++)
      ({ before, page } = await measure(rounds));
    quiet = { ...seriesOf(page, before), [UP]: `1x${HOUR}` };
    strangers = seriesOf(page, before, 'stranger');
  });

  test('in an hour with good requests and bad ones, none', () => expectAlerts(quiet, every(MINUTES, [])));

  test.each(TROUBLE)('%s', (_what, series, alerts) => {
    expect(Object.keys(series).filter((name) => !(name in quiet))).toEqual([]);
    return expectAlerts({ ...quiet, ...series }, alerts);
  });

  // Prometheus's default, which annotations of Kubernetes leave as it is.
  test.each([
    [failed('rest', 503), 'PetstoreUnavailable'],
    [graphqlError('SERVICE_UNAVAILABLE'), 'PetstoreUnavailable'],
    [failed('rest', 500), 'PetstoreInternalErrors'],
    [meter('http_requests_shed_total'), 'PetstoreSheds'],
  ])('scraped once a minute, %s is seen: %s', (series, alert) =>
    expectAlerts({ [UP]: '1x60', [series]: '0x10 1+1x50' }, { 10: [], 20: [alert] }, '1m'),
  );

  test('no target at all is an alert of its own', () => expectAlerts({}, { 4: [], 6: ['PetstoreNotWatched'] }));

  test('whatever another job does, no alert', async () => {
    const theirs = Object.fromEntries(
      TROUBLE.flatMap(([, series]) =>
        Object.entries(series).map(([name, values]) => [name.replace('petstore', 'stranger'), values]),
      ),
    );
    await expectAlerts({ [UP]: `1x${HOUR}`, ...theirs }, every(MINUTES, []));
  });

  test('the dashboard shows nothing of another job', () =>
    expectValues(
      strangers,
      dashboardQueries('1h').map(([, expression]) => ({ expression, minute: 30, values: {} })),
    ));

  test('each has its trouble here, and its line in docs/watch.md', () => {
    const { groups } = parse(readFileSync(deployed('alerts.yml'), 'utf8'));
    const names: string[] = groups.flatMap(({ rules }: { rules: { alert: string }[] }) =>
      rules.map(({ alert }) => alert),
    );
    const fired = new Set(TROUBLE.flatMap(([, , alerts]) => Object.values(alerts).flat()));
    expect([...fired, 'PetstoreNotWatched'].sort()).toEqual(names.toSorted());
    const told = readFileSync(join(ROOT, 'docs/watch.md'), 'utf8');
    expect(names.filter((name) => !told.includes(`\`${name}\``))).toEqual([]);
  });
});
