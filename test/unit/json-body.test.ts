import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { readJsonBytes } from '../../src/gateway/http/json-body.ts';
import { afterFile } from '../support/engines.ts';

test('a body whose connection ended before the reading is refused, and nobody waits for it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  afterFile(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // of a server that listens on a port
  const headers = { 'content-type': 'application/json', 'content-length': '10' };
  const sent = request({ port, host: '127.0.0.1', method: 'POST', headers }).on('error', () => {});
  sent.write('{');
  const [received] = (await once(server, 'request')) as [IncomingMessage]; // what the event brings
  sent.destroy();
  await new Promise((resolve) => received.on('error', () => {}).on('close', resolve));
  await expect(readJsonBytes(received, 100)).rejects.toMatchObject({ code: 'bad_request' });
});
