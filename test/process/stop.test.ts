import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, test } from 'vitest';
import { ONE_SIGNAL_MS } from '../../src/gateway/command-line.ts';
import { DRAIN_MS, LAG_LIMIT_MS } from '../../src/gateway/deadlines.ts';
import { send, sendRaw } from '../support/client.ts';
import { describeEachEngine, describeOnMysql, SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, eventually, isIdleClose, isShed, type LoadClient, petBody } from '../support/load.ts';
import { prepareDatabase, startPrepared } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { lateSince, msSince, RETRY_LATE } from '../support/stall-clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { sendHalf, sendUnfinished } from './half-sent.ts';

const CLIENTS = 8;
/** Far more than a busy machine takes; a stop that waits for its end is seen. */
const GRACE_MS = 30_000;

/** Creates, lists and gets on one kept connection until the gateway ends it in good order; retries nothing. Gives how it ended. */
async function useUntilClosed(url: string, key: string, number: number) {
  const client = connectClient(url, key);
  const end = { served: 0, unserved: [] as string[], acknowledged: [] as string[] };
  const beganAt = performance.now();
  let askedBefore = beganAt;
  for (let closes = false; !closes; ) {
    const askedAt = performance.now();
    const name = `stop-${number}-${end.served}`;
    const isCreate = end.served % 3 === 0;
    try {
      const answer = await (isCreate ? client.ask('POST', '/v1/pets', petBody(name)) : client.ask('GET', '/v1/pets'));
      const isServed = answer.status === (isCreate ? 201 : 200);
      // The gateway sheds what comes when it was held up, and it had our share of the time.
      const isExcused = isShed(answer.text) && lateSince(beganAt) > LAG_LIMIT_MS;
      if (!isServed && !isExcused) end.unserved.push(`${answer.status} ${answer.text}`);
      if (answer.status === 201) end.acknowledged.push(name);
      end.served++;
      ({ closes } = answer);
    } catch (error) {
      if (!isIdleClose(error, askedBefore)) end.unserved.push(String(error));
      break;
    }
    askedBefore = askedAt;
  }
  client.close();
  return end;
}

/** Asks, from a signal on, until the gateway ends the connection: the last answer; none when that was closed as idle. */
async function lastReadiness({ ask }: LoadClient, signalledAt: number) {
  for (let askedBefore = signalledAt; ; ) {
    const askedAt = performance.now();
    try {
      const answer = await ask('GET', '/readyz');
      if (answer.closes) return answer;
    } catch (error) {
      if (isIdleClose(error, askedBefore)) return undefined;
      throw error;
    }
    askedBefore = askedAt;
  }
}

/** The code of the error that a new connection meets; undefined when it is taken. */
async function tryToConnect(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  const code = await once(socket, 'connect').then(
    () => undefined,
    (error) => error.code,
  );
  socket.destroy();
  return code;
}

/** Why a gateway answered 503: the errors of its log, each once. */
function causes(log: string): string {
  const errors = log.split('\n').filter((line) => line.startsWith('{"level":50'));
  const told = errors.map((line) => JSON.parse(line)).map(({ msg, err }) => `${msg}: ${err?.code} ${err?.message}`);
  return [...new Set(told)].join('\n');
}

describeEachEngine('stopping', (engine) => {
  const start = (env: Record<string, string> = {}) =>
    startPrepared(engine, { SHUTDOWN_GRACE_MS: String(GRACE_MS), ...env });

  it.each([
    ['SIGTERM', '1'],
    ['SIGINT', '1'],
    ['SIGTERM', '2'],
  ] as const)(
    '%s under load, WORKERS=%s: no request fails, every connection is ended in good order',
    RETRY_LATE,
    async (signal, workers) => {
      const { prepared, gateway } = await start({ WORKERS: workers });
      const probe = connectClient(gateway.url, prepared.key);
      // A machine with much else to do is too late for some probes.
      await eventually(async () => (await probe.ask('GET', '/readyz')).status === 200, 20_000, 'it is ready');
      const clients = Array.from({ length: CLIENTS }, (_, number) => useUntilClosed(gateway.url, prepared.key, number));
      await eventually(async () => (await prepared.countNames()).size > 3 * CLIENTS, 30_000, 'the load is on');

      const stoppedAt = performance.now();
      gateway.child.kill(signal);
      await gateway.waitFor(/"msg":"stopping"/);
      // A worker hears of it a moment later, and what began before that is still well.
      await lastReadiness(probe, stoppedAt);

      const ends = await Promise.all(clients);
      const unserved = ends.flatMap((end) => end.unserved);
      const lost = unserved.filter((one) => !one.startsWith('503 ') && !isShed(one));
      expect(lost.join('\n'), 'lost').toBe('');
      expect(await gateway.exited).toEqual({ code: 0, signal: null });
      expect(msSince(stoppedAt)).toBeLessThan(GRACE_MS);
      expect(gateway.stderr()).toBe('');
      const counts = await prepared.countNames();
      const acknowledged = ends.flatMap((end) => end.acknowledged);
      expect(acknowledged.length).toBeGreaterThan(CLIENTS);
      expect(acknowledged.filter((name) => counts.get(name) !== 1)).toEqual([]);
      expect(unserved, `late: ${causes(gateway.stdout())}`).toEqual([]); // such a create may be done all the same
      expect(counts.size).toBe(acknowledged.length);
    },
  );

  if (engine.name !== 'sqlite') return; // the rest is the same on each engine

  it.each([
    'SIGTERM',
    'SIGHUP', // as when its terminal is closed
  ] as const)('%s: a request under way is answered; a new connection is not taken', async (signal) => {
    const { prepared, gateway } = await start();
    const half = await sendHalf(gateway.url, prepared.key, 'half-sent');
    const probe = connectClient(gateway.url, prepared.key);
    expect((await probe.ask('GET', '/readyz')).status).toBe(200);
    const signalledAt = performance.now();
    gateway.child.kill(signal);
    const ready = await lastReadiness(probe, signalledAt);
    if (ready !== undefined) expect(ready.status).toBe(503);
    const isRefused = async () => (await tryToConnect(gateway.port)) === 'ECONNREFUSED';
    await eventually(isRefused, 10_000, 'nobody listens any more');
    expect(await half.finish()).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  // On a machine that holds them up for half a second they are two: then it is tried again.
  test('two SIGTERMs that come together, as npm start gets them with its group, are one', { retry: 4 }, async () => {
    const { prepared, gateway } = await start();
    const half = await sendHalf(gateway.url, prepared.key, 'half-sent');
    gateway.child.kill('SIGTERM');
    await gateway.waitFor(/"msg":"stopping"/);
    gateway.child.kill('SIGTERM');
    expect(await half.finish()).toMatch(/^HTTP\/1\.1 201 /);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });

  it.each(['1', '2'])(
    'WORKERS=%s: an answer that is still being read is whole, and a kept connection is served for the second of the drain',
    RETRY_LATE,
    async (WORKERS) => {
      const { prepared, gateway } = await start({ WORKERS });
      const kept = connectClient(gateway.url, prepared.key);
      const { text: page } = await kept.ask('GET', '/graphql', undefined, { accept: 'text/html' });
      const [asset = ''] = /assets\/\w+\/graphiql\.js/.exec(page) ?? [];
      const [unread] = await once(get(`${gateway.url}/${asset}`), 'response'); // more than the systems of both sides take
      gateway.child.kill('SIGTERM');
      await delay(DRAIN_MS - 50);
      const answered = kept.ask('GET', '/livez').then(({ status }) => status, String);
      await delay(500);
      const read = buffer(unread).then(({ length }) => length, String);
      expect([await answered, await read], 'late').toEqual([200, Number(unread.headers['content-length'])]);
      expect(await gateway.exited).toEqual({ code: 0, signal: null });
    },
  );

  test(
    'requests that never end do not hold it beyond SHUTDOWN_GRACE_MS, are in the log, and what was counted is written',
    RETRY_LATE,
    async () => {
      const { prepared, gateway } = await start({ SHUTDOWN_GRACE_MS: '1000' });
      const headers = { authorization: `Bearer ${prepared.key}` };
      await sendHalf(gateway.url, prepared.key, 'never sent', 'X-Request-Id: cut-me\r\n');
      await sendUnfinished(gateway.url, `POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Le`);
      // By now it has read the other one, too.
      for (let use = 0; use < 3; use++) expect((await send(`${gateway.url}/v1/pets/1`, { headers })).status).toBe(404);
      const stoppedAt = performance.now();
      await gateway.stop();
      expect(msSince(stoppedAt)).toBeLessThan(8000); // sooner than its header would be refused as late
      const lines = gateway
        .stdout()
        .split('\n')
        .filter((line) => line.includes('"requestId":"cut-me"'));
      expect(
        lines.map((line) => JSON.parse(line)),
        'late',
      ).toMatchObject([{ msg: 'request', status: 499, aborted: true }]);
      expect((await prepared.keys.list())[0]?.lastUsedAt, 'late').not.toBeNull();
      expect(await prepared.database.knex('deprecated_use').pluck('uses'), 'late').toEqual([3]);
    },
  );

  test.each(['SIGTERM', 'SIGINT'] as const)('a second %s ends it at once, when it comes later', async (signal) => {
    const { gateway } = await start({ SHUTDOWN_GRACE_MS: '60000' });
    await sendUnfinished(gateway.url, 'GET /livez HTTP/1.1\r\n');
    await fetch(`${gateway.url}/livez`);
    gateway.child.kill(signal);
    await gateway.waitFor(/"msg":"stopping"/);
    await delay(ONE_SIGNAL_MS + 50);
    gateway.child.kill(signal);
    expect((await gateway.exited).code).toBe(1); // 0 had it waited for the request
  });
});

describeOnMysql('a stop while the database is silent', (engine) => {
  it.each(['1', '2'])(
    'WORKERS=%s: it ends a second after the grace; what is lost is one line',
    RETRY_LATE,
    async (WORKERS) => {
      const prepared = await prepareDatabase(engine);
      const proxy = await startTcpProxy(prepared.url);
      const gateway = await startProcess({ DATABASE_URL: proxy.url, WORKERS, SHUTDOWN_GRACE_MS: '1000' });
      const { ask, close } = connectClient(gateway.url, prepared.key);
      expect((await ask('GET', '/v1/pets/1')).status).toBe(404);
      close();
      proxy.swallowAnswersTo(/^/);
      const stoppedAt = performance.now();
      await gateway.stop();
      expect(msSince(stoppedAt), 'late').toBeLessThan(3000);
      expect(gateway.stdout().match(/"level":[456]0/g), 'late').toHaveLength(1);
      expect(gateway.stdout(), 'late').toMatch(/"lost":2,"msg":"the last use of API keys could not be written"/);
    },
  );
});

// A machine that holds this process up for ACCEPT_MS takes the chance from any connection: then it is tried again.
test('connections that the kernel holds when it listens no more are served, not reset', { retry: 4 }, async () => {
  const gateway = await startGateway(SQLITE);
  // Each request is work. All of it takes longer than ACCEPT_MS: it has to wait until all of them are accepted.
  const { koa } = gateway.app;
  const createContext = koa.createContext.bind(koa);
  koa.createContext = (...call) => {
    const end = performance.now() + 5;
    while (performance.now() < end);
    return createContext(...call);
  };
  const ask = () => sendRaw(gateway.port, 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  // This timer comes just before that of the stop, and a turn of the event loop accepts one connection.
  const asked = delay(DRAIN_MS).then(() => Promise.all(Array.from({ length: 100 }, ask)));
  const closed = gateway.close();
  const answers = await asked;
  expect(answers.filter((answer) => !/^HTTP\/1.1 200 .*\r\nconnection: close\r\n/is.test(answer))).toEqual([]);
  await closed;
});
