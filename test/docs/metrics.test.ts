import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { ROOT } from '../support/tracked-files.ts';

test('every metric of the gateway has its row in docs/watch.md', async () => {
  const { metrics } = await startGateway(SQLITE, { LOG_LEVEL: 'silent' });
  const named = metrics.registry.getMetricsAsArray().map(({ name }) => name);
  const own = named.filter((name) => !/^(?:process|nodejs)_/.test(name)); // prom-client's own
  const told = readFileSync(join(ROOT, 'docs/watch.md'), 'utf8');
  expect(own.filter((name) => !told.includes(`| \`${name}\``))).toEqual([]);
  expect(own.length).toBeGreaterThan(5);
});
