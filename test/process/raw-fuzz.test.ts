import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { COLLECTING, readCollected } from '../support/collected.ts';
import { SQLITE } from '../support/engines.ts';
import { eventually, faultsOf, readFootprint, STRESS_SECONDS } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { createRandom, type SeededRandom } from '../support/random.ts';

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
const SECONDS = STRESS_SECONDS || 6;
/** However slow the machine is, so many; no more are needed. */
const CONNECTIONS_LEAST = 2000;
const AT_ONCE = 40;

const METHODS =
  'GET GET GET GET HEAD POST PUT DELETE OPTIONS OPTIONS CONNECT CONNECT TRACE M-SEARCH QUERY PRI get X'.split(' ');
const PATHS =
  '/ /v1/pets /v1/pets?limit=2 /v1/pets/1 /graphql /docs /livez /readyz /metrics /v1/openapi.json /nope'.split(' ');
const TARGETS = [
  ...PATHS,
  ...PATHS,
  ...'* http:// http://[%]/ http://[::1/ http://? http://a http://a/v1/pets HTTPS://[::1]:1/livez a:1 [::1]:1 :'.split(
    ' ',
  ),
  ...'//a@[%]/# //a@b/ /%%% /%00 /\\ \\ /# ? # /? /?# /v1/pets?%E0%A4%A ://a javascript:1 mailto:a@b http:a'.split(' '),
  `/${'x'.repeat(5000)}`,
  `/?${'&'.repeat(9000)}`,
  `/v1/pets?status=${'%'.repeat(4000)}`,
  `http://${'a'.repeat(300)}/`,
  `http://${'['.repeat(50)}/`,
];
const HOSTS = ['', 'a b', '\u0000', 'é', ...'x x x x a:80 [::1] <x> a/b @ [ : a:99999 % a,b'.split(' ')];
const HEADERS = [
  'Connection: close',
  'Connection: Upgrade\r\nUpgrade: websocket',
  'Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA',
  'Expect: 100-continue',
  'Expect: cookies',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Content-Length: 5',
  'Content-Length: 70000',
  'Content-Length: 5\r\nContent-Length: 5',
  'Host: second',
  'Authorization: Bearer x\r\nAuthorization: Bearer y',
  'Accept: text/html',
  `Accept: ${','.repeat(3000)}`,
  `Accept-Encoding: ${'a,'.repeat(2000)}`,
  'Accept-Encoding: br',
  'If-None-Match: *',
  `If-None-Match: ${'W/"x",'.repeat(1000)}`,
  'Origin: null',
  'Origin: http://a\r\nAccess-Control-Request-Method: X',
  'X-Request-Id: a\r\nX-Request-Id: b',
  'Content-Type: application/json',
  'Content-Encoding: gzip',
  ' folded',
  'no colon',
  ': no name',
  'Trailer: X',
];
const BODIES = [
  'hello',
  '{"name":"a","categoryId":1}',
  '5\r\nhello\r\n0\r\n\r\n',
  'zz\r\n',
  '0\r\nX: y\r\n\r\n',
  '{"query":"{pets{id}}"}',
];

/** One or more requests, good and bad, as one client sends them on a connection. */
function generateStream(random: SeededRandom, key: string): Buffer {
  let text = '';
  for (let requests = 1 + random.below(3); requests > 0; requests--) {
    const version = random.pick(['1.1', '1.1', '1.1', '1.1', '1.0', '0.9', '2.0', '9.9']);
    const lines = [`${random.pick(METHODS)} ${random.pick(TARGETS)} HTTP/${version}`];
    if (random.chance(0.9)) lines.push(`Host: ${random.pick(HOSTS)}`);
    if (random.chance(0.6)) lines.push(`Authorization: Bearer ${key}`);
    for (let more = random.below(4); more > 0; more--) lines.push(random.pick(HEADERS));
    text += `${lines.join('\r\n')}\r\n\r\n`;
    if (random.chance(0.4)) text += random.pick(BODIES);
  }
  if (random.chance(0.01)) text = text.repeat(1 + random.below(300)); // pipelined
  const bytes = Buffer.from(text, 'latin1');
  if (random.chance(0.3)) bytes[random.below(bytes.length)] = random.below(256);
  return random.chance(0.4) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

/** Sends a stream in pieces and leaves in one of the ways there are, at any moment. */
async function useConnection(port: number, random: SeededRandom, key: string): Promise<void> {
  const bytes = generateStream(random, key);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: random.chance(0.5) });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {}); // it may be cut at any moment
  if (random.chance(0.8)) socket.resume();
  else socket.pause(); // reads nothing
  socket.setTimeout(3000, () => socket.destroy());
  for (let at = 0; at < bytes.length && !socket.destroyed; ) {
    const size = random.chance(0.6) ? bytes.length : 1 + random.below(bytes.length);
    socket.write(bytes.subarray(at, at + size));
    at += size;
    if (random.chance(0.2)) await delay(random.below(5));
  }
  const leave = random.pick([
    () => socket.resetAndDestroy(),
    () => socket.destroy(),
    () => socket.end(),
    () => delay(random.below(20)).then(() => socket.resetAndDestroy()),
    () => delay(random.below(50)).then(() => socket.end()),
  ]);
  if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
  await leave();
  if (!socket.destroyed) setTimeout(() => socket.destroy(), 300);
  await closed;
}

/** When a process began, in ticks since the machine's start; undefined when it is no more. */
function startTime(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[19]; // proc_pid_stat(5), field 22
  } catch {
    return undefined;
  }
}

test(`raw connections for ${SECONDS} s: the process is the same one afterwards`, {
  timeout: (SECONDS + 234) * 1000,
}, async () => {
  const NODE_OPTIONS = `--max-old-space-size=128 --max-semi-space-size=8 ${COLLECTING}`;
  const { gateway, key } = await startPrepared(SQLITE, { NODE_OPTIONS, LOG_LEVEL: 'debug' });
  await gateway.waitFor(/all is loaded/); // what it opens after its start is nobody's connection
  const pid = gateway.child.pid ?? 0;
  const startedAt = startTime(pid);
  expect(startedAt).toMatch(/^\d+$/);
  let count = 0;
  const run = async (until: () => boolean) => {
    const worker = async () => {
      while (!until()) await useConnection(gateway.port, createRandom(SEED + count++), key);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  await run(() => count >= CONNECTIONS_LEAST / 4); // what is made once is made
  const before = await readCollected(gateway);
  const end = performance.now() + SECONDS * 1000;
  await run(() => startTime(pid) !== startedAt || (performance.now() > end && count >= CONNECTIONS_LEAST));
  console.log(`raw fuzz: seed ${SEED}, ${count} connections`);
  expect(startTime(pid), gateway.stdout().slice(-2000) + gateway.stderr()).toBe(startedAt);
  const hasLetGo = async () => {
    const now = await readFootprint(gateway.url);
    return now.openFiles <= before.openFiles + 5;
  };
  await eventually(hasLetGo, 20_000, 'the connections are given back');
  const after = await readCollected(
    gateway,
    ({ heapMb, residentMb }) => heapMb - before.heapMb < 30 && residentMb - before.residentMb < 80,
  );
  console.log('raw fuzz:', JSON.stringify({ before, after }));
  expect(after.heapMb - before.heapMb).toBeLessThan(30);
  expect(after.residentMb - before.residentMb).toBeLessThan(80);
  expect(gateway.stderr()).toBe('');
  expect(faultsOf(gateway.stdout()).slice(0, 3)).toEqual([]);
  const answer = await fetch(`${gateway.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  await gateway.stop();
});
