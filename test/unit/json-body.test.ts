import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { readJsonBytes } from '../../src/gateway/http/json-body.ts';
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
