import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { deadlineIn } from '../../../src/lib/deadline/deadline.ts';
import { parseMysqlAddress } from '../../../src/lib/mysql-pool/mysql-address.ts';
import { createConnection } from '../../../src/lib/mysql-pool/mysql-connection.ts';
import { afterFile } from '../../support/engines.ts';

test('a command on a connection that has failed is refused at once, with the reason, and not sent', async () => {
  const listener = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  afterFile(() => void listener.close());
  const { port } = listener.address() as AddressInfo; // of a server that listens on a port
  const address = parseMysqlAddress(`mysql://root@127.0.0.1:${port}/petstore`);
  const { exchange, destroy } = createConnection(address, { host: '127.0.0.1', address: '127.0.0.1', port }, 500);
  const reason = new Error('the server is not the one that it was');
  destroy(reason);
  let sent = 0;
  const send = () => {
    sent++;
    return new Promise<never>(() => {}); // mysql2 need not call back
  };
  await expect(exchange(deadlineIn(1000), send)).rejects.toBe(reason);
  expect(sent).toBe(0);
});
