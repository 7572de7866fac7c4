import type { ServerOptions } from 'node:http';
import { createOrderedServer, type OrderedServerParts } from '../../../src/lib/ordered-http/ordered-http.ts';
import { afterFile } from '../../support/engines.ts';

/** A server on a free port that answers with the path of a request, and refuses with the reason; it ends after the test file. */
export async function startOrdered(
  parts: Partial<OrderedServerParts> = {},
  options: ServerOptions & { timeout?: number } = {},
) {
  const logged: string[] = [];
  const note = (_fields: object, text: string) => void logged.push(text);
  const server = createOrderedServer(
    { timeout: 30_000, ...options },
    {
      serve: ({ url }, response) => void response.end(url),
      refuse: (reason) => ({ status: 400, headers: { 'X-Id': '7' }, body: reason }),
      connectionsMax: 100,
      log: { warn: note, error: note },
      ...parts,
    },
  );
  afterFile(() => server.close({ graceMs: 0, drainMs: 0, acceptMs: 0, idleMs: 0 }));
  const { port } = await server.listen([0], '127.0.0.1');
  return { ...server, port, logged };
}
