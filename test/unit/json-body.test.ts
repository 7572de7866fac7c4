import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { readJsonBytes } from '../../src/gateway/http/json-body.ts';
import { collectGarbage } from '../support/garbage.ts';
import { serveListener } from '../support/served-app.ts';

test('a body whose connection ended before the reading is refused, and nobody waits for it', async () => {
  const server = createServer();
  const url = await serveListener(server);
  const headers = { 'content-type': 'application/json', 'content-length': '10' };
  const sent = request(url, { method: 'POST', headers }).on('error', () => {});
  sent.write('{');
  const [received] = (await once(server, 'request')) as [IncomingMessage]; // what the event brings
  sent.destroy();
  await new Promise((resolve) => received.on('error', () => {}).on('close', resolve));
  await expect(readJsonBytes(received, 100)).rejects.toMatchObject({ code: 'bad_request' });
});

test('requests that are kept do not keep their bodies, whole or refused: no share counts them any more', async () => {
  const limit = 4 * 2 ** 20;
  const server = createServer();
  const url = await serveListener(server);
  const requests: IncomingMessage[] = [];
  const read = async (bytes: number): Promise<string> => {
    const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } }).on(
      'error',
      () => {},
    );
    sent.end(Buffer.alloc(bytes, ' '));
    const [received, answer] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]; // what the event brings
    requests.push(received);
    const result = await readJsonBytes(received, limit).then(
      ({ length }) => `${length} bytes`,
      ({ code }) => code,
    );
    answer.writeHead(200, { Connection: 'close' }).end();
    return result;
  };
  const arrayBuffers = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const before = arrayBuffers();
  for (let round = 0; round < 5; round++) {
    expect(await read(limit)).toBe(`${limit} bytes`);
    expect(await read(limit + 1)).toBe('payload_too_large');
  }
  await expect.poll(() => arrayBuffers() - before).toBeLessThan(limit);
  expect(requests).toHaveLength(10);
});
