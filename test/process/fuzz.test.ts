import { expect, test } from 'vitest';
import { sendRaw } from '../support/client.ts';
import { COLLECTING, readCollected } from '../support/collected.ts';
import { describeEachEngine, ENGINES } from '../support/engines.ts';
import { connectClient, faultsOf, STRESS_SECONDS } from '../support/load.ts';
import { startPrepared } from '../support/prepared.ts';
import { createRandom } from '../support/random.ts';
import { msSince } from '../support/stall-clock.ts';
import { generateBytes, generateRequest } from './generated-requests.ts';

/** A round takes a second or two; what is made once is made in the first. */
const ROUNDS = Math.max(3, Math.ceil(STRESS_SECONDS / 2));
/** Shared by the engines: more than 10,000 in the three rounds. */
const REQUESTS = 2400 / ENGINES.length;
const STREAMS = 1200 / ENGINES.length;
const AT_ONCE = 12;
const SEED = 20_261_120;
/** Whoever is not answered, and not cut off, for this time, waits for ever. */
const HANG_MS = 8000;
const LIMIT_MS = 80_000 * ROUNDS;
/** A heap that is hardly larger than what an idle gateway needs: what leaks soon fills it, and ends the process. */
const SMALL_HEAP = { NODE_OPTIONS: `--max-old-space-size=96 --max-semi-space-size=8 ${COLLECTING}` };

const GROWS_AT_MOST_MB = 80;

/** Runs `work` for each number below `count`, some at once. */
async function forEach(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

describeEachEngine('fuzz', (engine) => {
  test('generated requests and byte streams: no 5xx, no hang, no growth', { timeout: LIMIT_MS }, async () => {
    const { gateway, key } = await startPrepared(engine, SMALL_HEAP);
    const wrong: string[] = [];
    const statuses = new Map<number, number>();
    const judge = (status: number, text: string, what: string) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // On a busy machine; of a HEAD only the headers tell.
      const honest = status === 503 && /service_unavailable|SERVICE_UNAVAILABLE|^retry-after: \d/im.test(text);
      if (status >= 500 && !honest) wrong.push(`${status} ${text.slice(0, 300)} for ${what.slice(0, 500)}`);
    };
    const clients = Array.from({ length: AT_ONCE }, () => connectClient(gateway.url, key));
    const ask = async (index: number) => {
      const { method, path, headers, body } = generateRequest(createRandom(SEED + index), key);
      const client = clients[index % AT_ONCE];
      try {
        const answer = await client?.ask(method, path, body, headers);
        const head = `retry-after: ${answer?.headers['retry-after']}\n`;
        if (answer) judge(answer.status, head + answer.text, `${method} ${path} ${body}`);
      } catch (error) {
        // What Node's client itself refuses to send was never a request.
        if (!/Invalid character|unescaped characters/.test(String(error)))
          wrong.push(`${error} for ${method} ${path}`.slice(0, 500));
      }
    };
    const stream = async (index: number) => {
      const bytes = generateBytes(createRandom(SEED - 1 - index), key);
      const startedAt = performance.now();
      const text = await sendRaw(gateway.port, bytes, { quietMs: HANG_MS, firstMs: HANG_MS, half: false });
      if (msSince(startedAt) >= HANG_MS) wrong.push(`hangs: ${JSON.stringify(bytes.toString('latin1'))}`);
      for (const [, status] of text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)) {
        judge(Number(status), text, JSON.stringify(bytes.toString('latin1')));
      }
    };

    const round = async (number: number) => {
      await forEach(REQUESTS, (index) => ask(number * REQUESTS + index));
      await forEach(STREAMS, (index) => stream(number * STREAMS + index));
    };
    await round(0);
    const before = await readCollected(gateway);
    for (let number = 1; number < ROUNDS; number++) await round(number);
    const after = await readCollected(gateway, (now) => now.residentMb - before.residentMb < GROWS_AT_MOST_MB);
    console.log(`${engine.name} fuzz:`, JSON.stringify({ before, after, statuses: Object.fromEntries(statuses) }));
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(gateway.child.exitCode).toBeNull();
    expect(faultsOf(gateway.stdout()).slice(0, 3)).toEqual([]);
    expect(gateway.stderr()).toBe('');
    expect(after.residentMb - before.residentMb).toBeLessThan(GROWS_AT_MOST_MB);
    expect(after.openFiles - before.openFiles).toBeLessThan(AT_ONCE + 5);
    for (const expected of [200, 201, 400, 401, 404, 405, 413, 415]) expect([...statuses.keys()]).toContain(expected);
  });
});
