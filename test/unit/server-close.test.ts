import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/gateway/log.ts';
import { listen } from '../../src/gateway/process/server.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a gateway that is closed watches and sweeps no more', async () => {
  const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  const { close } = await startGateway(SQLITE);
  await close();
  const ours = begun.mock.results.map(({ value }) => value).filter((timer) => !timer.hasRef()); // those of Knex's pool have one
  expect(ours.length).toBeGreaterThan(2);
  expect(ours.filter((timer) => !ended.mock.calls.flat().includes(timer))).toEqual([]);
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
