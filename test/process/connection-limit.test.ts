import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { afterFile, ENGINES, type TestEngine, temporaryFolder } from '../support/engines.ts';
import { connectClient, eventually } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; connections are the same on each engine

/** A gateway that may open 200 files. */
async function startWithFewFiles() {
  const { url: DATABASE_URL, key } = await prepareDatabase(sqlite);
  const folder = temporaryFolder();
  const node = join(folder, 'node');
  writeFileSync(node, `#!/bin/sh\nulimit -n 200\nexec '${process.execPath}' "$@"\n`);
  chmodSync(node, 0o700);
  const gateway = await startProcess({ DATABASE_URL }, folder, node);
  const open = (): Socket => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => {}); // it may be cut
    afterFile(() => void socket.destroy());
    return socket;
  };
  return { gateway, key, open };
}

test('300 silent connections, where 200 files may be open: the longest idle are closed, and each new client is served', async () => {
  const { gateway, key, open } = await startWithFewFiles();
  const working = open();
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const body = '{"name":"Rex","categoryId":1}';
  working.write(`${head}Connection: close\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
  expect(String((await once(working, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /);
  const closed: number[] = [];
  for (let number = 0; number < 300; number++) {
    const socket = open();
    socket.on('close', () => closed.push(number)).resume();
    await once(socket, 'connect');
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
