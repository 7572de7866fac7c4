import { join } from 'node:path';
import { expect, test } from 'vitest';
import { send } from '../support/client.ts';
import { run } from '../support/process.ts';
import { ROOT } from '../support/tracked-files.ts';

test("a worker of another program's primary serves as a lone process", async () => {
  const env = { PORT: '0', WORKERS: '2', RATE_LIMIT: '2/1h' };
  const primary = run('../test/process/foreign-primary.ts', [join(ROOT, 'src/main.ts')], env);
  const [, url = ''] = await primary.waitFor(/listening on (http:[^"\s]+)/);
  const [, key = ''] = await primary.waitFor(/Your API key {2}(petstore_\w+)/);
  expect(primary.stdout()).toMatch(/"level":40.*WORKERS does not count/);
  const headers = { authorization: `Bearer ${key}` };
  const statuses: number[] = [];
  for (let request = 0; request < 3; request++) statuses.push((await send(`${url}/v1/pets`, { headers })).status);
  expect(statuses).toEqual([200, 200, 429]);
  const metrics = await send(`${url}/metrics`);
  expect([metrics.status, metrics.text]).toEqual([200, expect.stringContaining('http_requests_shed_total')]);
  await primary.stop(); // which it hands on as SIGINT
});
