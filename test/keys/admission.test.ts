import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { openSocket, sendHead } from '../support/client.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { rawGet, rawHead } from '../support/raw-requests.ts';

/** What CONTRACT promises of a revoked key, in ms. */
const REVOKED_WITHIN_MS = 5000;

describeEachEngine('admission', (engine) => {
  test('a key that is revoked while the body is on its way creates nothing, over either API', async () => {
    const gateway = await startGateway(engine);
    const { id, key } = await gateway.keys.create({ name: 'leaked', expiresAt: null });
    const mutation = JSON.stringify({ query: 'mutation { addPet(input: { name: "Late", categoryId: 1 }) { id } }' });
    const bodies = { '/v1/pets': '{"name":"Late","categoryId":1}', '/graphql': mutation };
    const begun = Object.entries(bodies).map(async ([path, body]) => {
      const socket = await sendHead(gateway.port, path, key, body);
      socket.write(body.slice(0, -1));
      return socket;
    });
    const sockets = await Promise.all(begun);
    await gateway.keys.revoke(id as Int64); // the database's own id
    await delay(REVOKED_WITHIN_MS);
    for (const socket of sockets) {
      socket.write('}');
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1.1 401 /);
    }
    expect((await gateway.request('/v1/pets')).json).toEqual([]);
  });

  test('requests that their clients left, pipelined ones too, hold none of the 128 that a key may have in flight', async () => {
    const gateway = await startGateway(engine);
    const { key } = await gateway.keys.create({ name: 'impatient', expiresAt: null });
    // More than one key may have in flight, so that none may stay behind.
    for (let round = 0; round < 150; round++) {
      const socket = await openSocket(gateway.port);
      socket.write(rawGet('/v1/pets', key).repeat(3));
      await once(socket, 'data');
      socket.resetAndDestroy();
    }
    const headers = { authorization: `Bearer ${key}` };
    const isServed = async () => (await gateway.request('/v1/pets', { headers })).status === 200;
    expect(await eventually(isServed, 5000, 'an answer')).toBe(true);
  });

  test('unfinished bodies of one key are bounded, and cost another key nothing', async () => {
    const gateway = await startGateway(engine, { BODY_LIMIT: '4194304' });
    const { key } = await gateway.keys.create({ name: 'slow', expiresAt: null });
    const answers: string[] = [];
    for (let connection = 0; connection < 80; connection++) {
      const socket = await openSocket(gateway.port);
      socket.on('data', (part) => answers.push(String(part).slice(0, 12)));
      socket.write(`${rawHead('/v1/pets', key)}Content-Length: 4000000\r\n\r\n{`);
    }
    await eventually(() => answers.length >= 20, 5000, 'refusals');
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 429']));
    expect(answers.length).toBeLessThan(40); // some are let in, and wait for the rest of their bodies
    expect((await gateway.createPet({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  });
});
