import { expect, test } from 'vitest';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; labels are the same on each engine
const UNKNOWN_PATHS = 100;

test('what comes from outside makes no series: unknown paths, methods and operations share one', async () => {
  const gateway = await startGateway(sqlite);
  const series = async () => {
    const text = await gateway.metrics.registry.metrics();
    return text.match(/^(?:http_request_duration_seconds_count|graphql_\w+)\{.*\}/gm) ?? [];
  };
  const ask = async (mark: string) => {
    await gateway.request(`/nowhere/${mark}`);
    await gateway.request(`/v1/${mark}`);
    await gateway.request(`/v1/pets/${mark}`);
    await gateway.request(`/docs?${mark}`, { method: mark.toUpperCase() });
    await gateway.graphql(`query ${mark} { pets(limit: 1) { id } }`, {}, { 'x-operation': mark });
    await gateway.graphql(`{ ${mark} }`);
  };
  await ask('first');
  const before = await series();
  for (let path = 0; path < UNKNOWN_PATHS; path++) await ask(`other${path}`);
  expect(await series()).toEqual(before);
  expect(before.length).toBeGreaterThan(4);
  expect(before.join()).not.toContain('first');
});
