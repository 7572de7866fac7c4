import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/gateway/log.ts';
import { listen } from '../../src/gateway/process/server.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';

test('a server has closed when its gateway has: the process ends then, and its last counts are written', async () => {
  const { app } = await startGateway(SQLITE);
  const { promise, resolve } = Promise.withResolvers<void>();
  const steps: string[] = [];
  const close = () => {
    steps.push('the gateway closes');
    return promise;
  };
  const gateway = { app, drain: () => steps.push('drain'), close } as unknown as Gateway; // all that a server uses
  const server = await listen(gateway, readConfig({ PORT: '0' }), createLog('silent'));
  const closing = server.close(0).then(() => steps.push('closed'));
  await eventually(() => steps.includes('the gateway closes'), 5000, 'it stops listening');
  await delay(0); // whoever does not wait for the gateway has closed by now
  expect(steps).toEqual(['drain', 'the gateway closes']);
  resolve();
  await closing;
  expect(steps.at(-1)).toBe('closed');
});

test('what is left of the grace is for the last counts', async () => {
  const { app } = await startGateway(SQLITE);
  const left: number[] = [];
  const close = async (leftMs: number) => void left.push(leftMs);
  const gateway = { app, drain() {}, close } as unknown as Gateway; // all that a server uses
  const server = await listen(gateway, readConfig({ PORT: '0' }), createLog('silent'));
  await server.close(10_000); // no connection takes longer than the drain
  expect(left).toHaveLength(1);
  expect(left[0]).toBeGreaterThan(0);
  expect(left[0]).toBeLessThan(9010); // a timer may fire a millisecond early
});
