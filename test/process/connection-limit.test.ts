import { once } from 'node:events';
import { expect, test } from 'vitest';
import { openSocket, sendHead } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { connectClient, eventually } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { shellNode } from '../support/process.ts';

/** A gateway that may open 200 files. */
async function startWithFewFiles() {
  const node = shellNode(`ulimit -n 200\nexec '${process.execPath}' "$@"`);
  const { gateway, key } = await startPrepared(SQLITE, {}, node);
  return { gateway, key, open: () => openSocket(gateway.port) };
}

test('300 silent connections, where 200 files may be open: the longest idle are closed, and each new client is served', async () => {
  const { gateway, key, open } = await startWithFewFiles();
  const body = '{"name":"Rex","categoryId":1}';
  const working = await sendHead(gateway.port, '/v1/pets', key, body, 'Connection: close\r\n');
  const closed: number[] = [];
  for (let number = 0; number < 300; number++) {
    (await open()).on('close', () => closed.push(number)).resume();
  }
  for (let round = 0; round < 20; round++) {
    const { ask, close } = connectClient(gateway.url, key);
    expect((await ask('GET', '/v1/pets')).status).toBe(200);
    close();
  }
  await eventually(() => closed.length > 200, 5000, 'the first ones are closed');
  const inOrder = closed.toSorted((a, b) => a - b);
  expect(inOrder).toEqual(inOrder.map((_, index) => index));
  expect(closed).not.toContain(299);
  working.write(body); // has a request, and is older than all of them
  expect(String((await once(working, 'data'))[0])).toMatch(/^HTTP\/1\.1 201 /);
  const warnings = gateway.stdout().match(/^\{"level":[45]0.*$/gm) ?? [];
  expect(warnings).toEqual([expect.stringContaining('too many connections')]);
});
