import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runLoad } from '../../bench/load.ts';
import { readOptions } from '../../bench/options.ts';

test('a latency is noted of each answer, and a request a second only of those within the time', async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    const lateMs = asked++ % 2 === 0 ? 0 : 3000;
    delay(lateMs).then(() => response.end('[]'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const request = { bytes: Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), status: 200, isRight: () => true };
  const load = await runLoad(port, [request], 3, 2);
  server.close();
  expect(load.latencies.filter((ms) => ms > 2500)).toHaveLength(3);
  expect(load).toMatchObject({ answered: asked, count: asked - 3, wrong: 0 });
  expect(load.elapsedSeconds).toBeGreaterThan(2.5);
});

test.each([
  [[], true],
  [['--seconds', '1'], true],
  [['--rounds', '4'], true],
  [['--rounds', '2'], false],
  [['--quick'], false],
  [['--only', 'get'], false],
])('of a run with %j it is known whether it may replace the report', (words, isFull) => {
  expect(readOptions(words).isFull).toBe(isFull);
});
