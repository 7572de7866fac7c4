import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { ROOT } from '../support/tracked-files.ts';

test('no query of dashboard and alerts has a range of less than three scrapes a minute apart', () => {
  const queries = ['docs/grafana-dashboard.json', 'deploy/alerts.yml'].map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  );
  const ranges = queries.flatMap((text) => [...text.matchAll(/\[(\d+)(\w+)\]/g)]);
  expect(ranges.filter(([, many, unit]) => unit !== 'm' || Number(many) < 3).map(([range]) => range)).toEqual([]);
  expect(ranges.length).toBeGreaterThan(10);
});

test('every metric of the gateway has its row in docs/watch.md', async () => {
  const { metrics } = await startGateway(SQLITE, { LOG_LEVEL: 'silent' });
  const named = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  const own = named.filter((name) => !/^(?:process|nodejs)_/.test(name)); // prom-client's own
  const told = readFileSync(join(ROOT, 'docs/watch.md'), 'utf8');
  expect(own.filter((name) => !told.includes(`| \`${name}\``))).toEqual([]);
  expect(own.length).toBeGreaterThan(5);
});
