import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import { afterFile } from './engines.ts';

/** Lets a server listen on a free port until the test file ends, and gives its base address. */
export async function serveListener(server: Server): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve).once('error', reject);
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  await promise;
  const { port } = server.address() as AddressInfo; // it listens on a port
  return `http://127.0.0.1:${port}`;
}

/** The same for an app. */
export const serveApp = (app: Koa): Promise<string> => serveListener(createServer(app.callback()));
