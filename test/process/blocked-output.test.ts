import { execFileSync } from 'node:child_process';
import { closeSync, constants, createReadStream, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { afterFile, SQLITE, temporaryFolder } from '../support/engines.ts';
import { connectClient, eventually, readFootprint, sumMetric } from '../support/load.ts';
import { freePort } from '../support/ports.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { run, shellNode } from '../support/process.ts';

const GRACE_MS = 1000;
/** The path of a request whose line in the log is long. */
const LONG = `/v1/${'pets-'.repeat(200)}`;

/** A gateway whose standard output is a pipe that is open, and that nobody reads. */
async function startUnread(workers: string) {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const held = openSync(pipe, constants.O_RDWR);
  let isHeld = true;
  const close = () => {
    if (isHeld) closeSync(held);
    isHeld = false;
  };
  afterFile(close);
  return { pipe, close, ...(await startWritingTo(pipe, workers)) };
}

/** A gateway whose standard output is the file of this path. */
async function startWritingTo(path: string, workers = '1') {
  const { url: DATABASE_URL } = await prepareDatabase(SQLITE);
  const node = shellNode(`exec '${process.execPath}' "$@" > '${path}'`);
  const port = await freePort();
  const env = { DATABASE_URL, PORT: String(port), WORKERS: workers, SHUTDOWN_GRACE_MS: String(GRACE_MS) };
  const gateway = run('main.ts', [], env, undefined, node);
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isUp, 60_000, 'it is ready');
  /** As of the last page: /metrics is made once in a second. */
  const dropped = async () => sumMetric(await (await fetch(`${url}/metrics`)).text(), 'log_lines_dropped_total');
  /** Has so many lines logged. */
  const fill = async (lines: number) => {
    const clients = Array.from({ length: 10 }, () => connectClient(url, 'none'));
    let asked = 0;
    const work = async ({ ask, close }: (typeof clients)[number]) => {
      while (asked++ < lines) expect((await ask('GET', LONG)).status).toBe(401);
      close();
    };
    await Promise.all(clients.map(work));
  };
  return { gateway, url, dropped, fill };
}

test.each(['1', '2'])(
  'standard output that nobody reads, WORKERS=%s: lines are dropped and counted, and the stop has its time',
  async (workers) => {
    const { gateway, url, dropped, fill } = await startUnread(workers);
    await fill(500);
    const before = await readFootprint(url);
    await fill(Number(workers) * 5000); // some 6 MB each
    await eventually(async () => (await dropped()) > 0, 5000, 'they are counted');
    expect((await readFootprint(url)).residentMb - before.residentMb).toBeLessThan(150 * Number(workers));
    await gateway.stop();
  },
  180_000,
);

const isJson = (line: string) => {
  try {
    return JSON.parse(line) !== undefined;
  } catch {
    return false;
  }
};

test('of two workers whose lines are read slowly, each line stays whole', async () => {
  const { gateway, pipe, fill } = await startUnread('2');
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  afterFile(() => closeSync(reader));
  const part = Buffer.alloc(16_384);
  let text = '';
  const reading = setInterval(() => {
    try {
      text += part.toString('latin1', 0, readSync(reader, part));
    } catch {} // nothing is there
  }, 20);
  afterFile(() => clearInterval(reading));
  await fill(3000); // some 4 MB, fewer than are dropped
  await eventually(() => text.split('"path":').length > 1500, 60_000, 'half of it is read');
  const lines = text
    .split('\n')
    .slice(0, -1)
    .filter((line) => !isJson(line));
  expect(lines).toEqual([]);
  clearInterval(reading);
  await gateway.stop();
}, 180_000);

test('standard output that is read again tells once how many lines are missing, each time', async () => {
  const { gateway, pipe, dropped, fill } = await startUnread('1');
  let text = '';
  const reader = createReadStream(pipe, 'utf8').on('data', (part) => (text += part));
  afterFile(() => void reader.destroy());
  const told = () => [...text.matchAll(/^.*"lines":(\d+),"msg":"lines of the log were dropped/gm)];
  for (const time of [1, 2]) {
    reader.pause();
    await fill(5000);
    reader.resume();
    await eventually(() => told().length === time, 60_000, 'it is told');
    const sum = told().reduce((total, [, lines]) => total + Number(lines), 0);
    await eventually(async () => (await dropped()) === sum, 5000, 'as many are counted');
  }
  await fill(20);
  await gateway.stop();
  expect(told().length).toBe(2);
  await eventually(() => text.includes('"msg":"stopping"'), 5000, 'the last lines are written');
}, 180_000);

const startClosed = async () => {
  const { close, ...started } = await startUnread('1');
  close();
  return started;
};
test.each([
  ['was closed', startClosed],
  ['stands on a full disk', () => startWritingTo('/dev/full')],
])('standard output that %s ends nothing, and its lines are counted', async (_what, start) => {
  const { gateway, dropped, fill } = await start();
  await fill(300);
  await eventually(async () => (await dropped()) >= 300, 5000, 'they are counted');
  await gateway.stop();
  expect(gateway.stderr()).toBe('');
});
