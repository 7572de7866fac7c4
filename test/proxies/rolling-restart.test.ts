import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LAG_LIMIT_MS } from '../../src/gateway/deadlines.ts';
import { describeOnMysql, temporaryFolder } from '../support/engines.ts';
import { eventually, isShed, type LoadClient, petBody } from '../support/load.ts';
import { readBlock, runBlock } from '../support/page-blocks.ts';
import { freePorts } from '../support/ports.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { lateSince, RETRY_LATE } from '../support/stall-clock.ts';
import { has } from '../support/tools.ts';
import { hasProxy, PROXY_NAMES, startProxy } from './proxy.ts';

const ROUNDS = 2;
const CLIENTS = 8;
/** Further clients, whose bodies take so long that a gateway may stop between header and body. */
const SLOW_CLIENTS = 4;
const SLOW_MS = 2000;
/**
 * Whether a 503 was waited for, which a machine that stood still may bring about; a gateway that refuses does so at once. Caddy looks
 * for a gateway for 2 s, `lb_try_duration`; otherwise the time is longer than a slow body takes.
 */
const isWaitedFor = (text: string, ms: number) =>
  ms > (text.includes('No gateway can be reached') ? 1900 : SLOW_MS + 400);
/** The restart waits 6 s: what takes longer than this may be of a gateway that nginx chose before. */
const CHOSEN_BEFORE_MS = 5000;
/** Between two requests of a client: restarts meet enough of them, and the machine has other tests. */
const PAUSE_MS = 10;

/** The administrator's commands: as under systemd, a gateway that has ended is started again, by the test. */
const COMMANDS = 'sudo() { "$@"; }; systemctl() { kill "$PID" && tail -f /dev/null --pid="$PID"; }';

/** Text that comes in two pieces. */
function slowly(text: string): Readable {
  const pieces = async function* () {
    yield text.slice(0, 5);
    await delay(SLOW_MS);
    yield text.slice(5);
  };
  return Readable.from(pieces());
}

/** Requests of each kind in turn, until stopped; none is ever sent again. Their ids begin with `name`. */
function startLoad(name: string, connect: () => LoadClient) {
  const failed: string[] = [];
  /** What a machine that stood still was too late for. */
  const late: string[] = [];
  /** The ids of requests whose gateway may have been chosen before it was to get none. */
  const slow = new Set<string>();
  const acknowledged: string[] = [];
  let stopped = false;
  const beganAt = performance.now();
  const load = async (isSlow: boolean): Promise<void> => {
    const { ask, close } = connect();
    for (let turn = 0; !stopped; turn++) {
      const id = `${name}-${randomUUID()}`;
      const headers = { 'x-request-id': id, ...(turn % 3 === 1 && { 'idempotency-key': id }) };
      const body = isSlow ? slowly(petBody(id)) : petBody(id);
      const sentAt = performance.now();
      const sent =
        turn % 3 === 2 ? ask('GET', '/v1/pets?limit=3', undefined, headers) : ask('POST', '/v1/pets', body, headers);
      const answer = await sent.catch((error) => ({ status: 0, text: String(error) }));
      const ms = performance.now() - sentAt;
      if (ms > CHOSEN_BEFORE_MS) slow.add(id);
      if (answer.status === 201) acknowledged.push(id);
      // A gateway sheds what comes when it was held up, and it had our share of the time.
      else if (answer.status !== 200 && !(isShed(answer.text) && lateSince(beganAt) > LAG_LIMIT_MS)) {
        const isLate = isShed(answer.text) || (answer.status === 503 && isWaitedFor(answer.text, ms));
        (isLate ? late : failed).push(`${id} ${turn % 3} ${answer.status} after ${Math.round(ms)} ms ${answer.text}`);
      }
      await delay(PAUSE_MS);
    }
    close();
  };
  const running = Array.from({ length: CLIENTS + SLOW_CLIENTS }, (_, index) => load(index >= CLIENTS));
  return {
    acknowledged,
    failed,
    late,
    slow,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

describeOnMysql('rolling restarts under load, as docs/run.md says', (engine) => {
  const proxyNames = PROXY_NAMES.filter(hasProxy);
  const test = it.runIf(has('curl') && proxyNames.length > 0);

  test(`behind ${proxyNames.join(' and ')} no request fails and nothing is doubled`, RETRY_LATE, async () => {
    const prepared = await prepareDatabase(engine);
    const run = temporaryFolder();
    const inRun = (text: string) => text.replaceAll('/run/', `${run}/`);
    const first = await freePorts([0, 1]);
    const start = (port: number) =>
      startProcess({ PORT: String(port), DATABASE_URL: prepared.url, TRUSTED_PROXIES: '127.0.0.1' });
    const gateways = { a: await start(first), b: await start(first + 1) };
    const loads = await Promise.all(
      proxyNames.map(async (name) => {
        const proxy = await startProxy(name, [first, first + 1], inRun);
        return startLoad(name, () => proxy.connect(prepared.key));
      }),
    );
    await eventually(() => loads.every((load) => load.acknowledged.length > 200), 60_000, 'the load is on');

    /** The ids of the requests that gateways answered when they had been told to stop. */
    const atTheEnd: string[] = [];
    const restart = async (name: 'a' | 'b') => {
      const { child, exited, stdout, url } = gateways[name];
      const restarted = exited.then(() => start(Number(new URL(url).port)));
      const env = { NAME: name, GATEWAY: url, PID: String(child.pid) };
      const block = `${COMMANDS}\n${inRun(readBlock('docs/run.md', 'bash restart'))}`;
      expect(await runBlock(block, run, env)).toEqual({ code: 0, stdout: '', stderr: '' });
      expect(await exited).toEqual({ code: 0, signal: null });
      gateways[name] = await restarted;
      const [, after = ''] = stdout().split('"msg":"stopping"');
      atTheEnd.push(...[...after.matchAll(/"requestId":"([^"]+)"/g)].map(([, id = '']) => id));
    };
    for (let round = 0; round < ROUNDS; round++) {
      await restart('a');
      await restart('b');
    }
    await Promise.all(loads.map((load) => load.stop()));
    const isSlow = (id: string) => loads.some(({ slow }) => slow.has(id));
    const ofNginx = atTheEnd.filter((id) => id.startsWith('nginx'));
    expect(ofNginx.filter((id) => !isSlow(id))).toEqual([]);
    expect(loads.flatMap((load) => load.failed)).toEqual([]);
    const acknowledged = loads.flatMap((load) => load.acknowledged);
    const counts = await prepared.countNames();
    expect(acknowledged.filter((name) => !counts.has(name))).toEqual([]);
    expect([...counts.values()].filter((count) => count !== 1)).toEqual([]);
    expect([...ofNginx, ...loads.flatMap((load) => load.late)], 'late').toEqual([]);
    expect([...counts.keys()].toSorted()).toEqual(acknowledged.toSorted());
  });
});
