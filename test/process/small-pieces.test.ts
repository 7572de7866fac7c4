import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { afterFile, ENGINES, type TestEngine } from '../support/engines.ts';
import { connectClient } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; connections are the same on each engine
/** More than the clients send, many times; the process ends when it does not suffice. */
const HEAP_MB = 128;
/** A chunk of one byte, which Node makes an object of. As many as the default BODY_LIMIT allows. */
const PIECES = '1\r\n1\r\n'.repeat(65_000);
const SMALLEST = 'GET / HTTP/1.1\r\nHost:x\r\n\r\n';
const CHUNKED = 'Host: x\r\nTransfer-Encoding: chunked\r\n';

/** Each makes what clients send that neither read answers nor end their bodies. */
const KINDS: readonly (readonly [what: string, connections: number, send: (asset: string, key: string) => string])[] = [
  [
    'bodies on their way',
    30,
    (_asset, key) =>
      `POST /v1/pets HTTP/1.1\r\n${CHUNKED}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n\r\n${PIECES}`,
  ],
  ['bodies that nobody takes', 30, (asset) => `GET ${asset} HTTP/1.1\r\n${CHUNKED}\r\n${PIECES}`],
  [
    'requests that wait for their turn',
    60,
    (asset) => `GET ${asset} HTTP/1.1\r\nHost: x\r\n\r\n${SMALLEST.repeat(9000)}`,
  ],
  [
    'bodies that wait for their turn',
    60,
    (asset) => `GET ${asset} HTTP/1.1\r\nHost: x\r\n\r\nPOST /graphql HTTP/1.1\r\n${CHUNKED}\r\n${PIECES}`,
  ],
];

test.each(KINDS)(
  '%s, in the smallest pieces, do not exhaust the memory',
  async (_what, connections, send) => {
    const { url: DATABASE_URL, key } = await prepareDatabase(sqlite);
    const gateway = await startProcess({ DATABASE_URL, NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
    const page = await (await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } })).text();
    const [asset = ''] = /assets\/\w+\/graphiql\.js/.exec(page) ?? [];
    const bytes = send(`/${asset}`, key);
    for (let connection = 0; connection < connections; connection++) {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => {}); // it may be cut
      afterFile(() => void socket.destroy());
      socket.pause();
      socket.write(bytes);
      await delay(20); // what comes within one turn of the event loop is there before anybody can refuse it
    }
    const { ask } = connectClient(gateway.url, key);
    for (let round = 0; round < 3; round++) {
      await delay(1000);
      expect(gateway.stderr()).toBe('');
      expect((await ask('GET', '/v1/pets?limit=1')).status).toBe(200);
    }
    expect(gateway.child.exitCode).toBeNull();
  },
  60_000,
);
