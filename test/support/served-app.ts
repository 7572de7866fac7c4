import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type Koa from 'koa';
import { afterFile } from './engines.ts';

/** Lets a server listen on a free port until the test file ends, and gives the port. */
export async function listenOnFreePort(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  afterFile(() => void server.close());
  return (server.address() as AddressInfo).port; // it listens on a port
}

/** The port of somebody who takes connections and says nothing on them. */
export const startSilent = (): Promise<number> =>
  listenOnFreePort(createServer((socket) => socket.on('error', () => {})));

/** Lets a server listen on a free port until the test file ends, and gives its base address. */
export async function serveListener(server: HttpServer): Promise<string> {
  const port = await listenOnFreePort(server);
  afterFile(() => server.closeAllConnections());
  return `http://127.0.0.1:${port}`;
}

/** The same for an app. */
export const serveApp = (app: Koa): Promise<string> => serveListener(createHttpServer(app.callback()));
