import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeOnMysql } from '../support/engines.ts';
import { eventually, isShed, type LoadClient, petBody } from '../support/load.ts';
import { freePorts } from '../support/ports.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { ROOT } from '../support/tracked-files.ts';
import { hasProxy, PROXY_NAMES, startProxy } from './proxy.ts';

const CLIENTS = 16;

/** The wait between two gateways, as the page tells it. */
function documentedWaitMs(): number {
  const [, seconds = ''] = /wait (\d+) seconds/i.exec(readFileSync(join(ROOT, 'docs/run.md'), 'utf8')) ?? [];
  return Number(seconds) * 1000;
}

/** Requests of each kind in turn, until stopped; none is ever sent again. */
function startLoad(connect: () => LoadClient) {
  const failed: string[] = [];
  const acknowledged: string[] = [];
  let asked = 0;
  let stopped = false;
  const load = async (): Promise<void> => {
    const { ask, close } = connect();
    for (let turn = 0; !stopped; turn++) {
      const name = randomUUID();
      const key = turn % 3 === 1 ? { 'idempotency-key': name } : {};
      const sent = turn % 3 === 2 ? ask('GET', '/v1/pets?limit=3') : ask('POST', '/v1/pets', petBody(name), key);
      const answer = await sent.catch((error) => ({ status: 0, text: String(error) }));
      asked++;
      if (answer.status === 201) acknowledged.push(name);
      else if (answer.status !== 200 && !isShed(answer)) failed.push(`${answer.status} ${turn % 3} ${answer.text}`);
    }
    close();
  };
  const running = Array.from({ length: CLIENTS }, load);
  return {
    acknowledged,
    failed,
    asked: () => asked,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

describeOnMysql('a rolling restart under load', (engine) => {
  it.each(PROXY_NAMES.filter(hasProxy))('behind %s: no request fails and nothing is doubled', async (proxyName) => {
    const prepared = await prepareDatabase(engine);
    const first = await freePorts([0, 1]);
    const start = async (port: number) => {
      return startProcess({
        PORT: String(port),
        DATABASE_URL: prepared.url,
        TRUSTED_PROXIES: '127.0.0.1',
      });
    };
    const ready = (port: number) =>
      eventually(
        () =>
          fetch(`http://127.0.0.1:${port}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        60_000,
        'it is ready',
      );
    const ports = [first, first + 1] as const;
    const gateways = [await start(ports[0]), await start(ports[1])];
    const proxy = await startProxy(proxyName, ports);
    const load = startLoad(() => proxy.connect(prepared.key));
    await eventually(() => load.acknowledged.length > 200, 60_000, 'the load is on');
    for (const [index, port] of ports.entries()) {
      gateways[index]?.child.kill('SIGTERM');
      expect(await gateways[index]?.exited).toEqual({ code: 0, signal: null });
      gateways[index] = await start(port);
      await ready(port);
      await delay(documentedWaitMs());
    }
    await load.stop();
    // nginx asks no gateway for its health, so it goes on sending until one is gone: a connection that comes in the moment in
    // which the port is closed is reset. A create is then 502, and not sent again.
    const isReset = (answer: string) => proxyName === 'nginx' && /^502 [01]/.test(answer);
    expect(load.failed.filter((answer) => !isReset(answer))).toEqual([]);
    const resets = load.failed.length;
    expect(resets).toBeLessThanOrEqual(3);
    const counts = await prepared.countNames();
    expect(load.acknowledged.filter((name) => counts.get(name) !== 1)).toEqual([]);
    expect(counts.size - load.acknowledged.length).toBeLessThanOrEqual(resets);
    expect([...counts.values()].filter((count) => count !== 1)).toEqual([]);
  });
});
