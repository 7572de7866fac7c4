import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { KEY_LOOKUP_MS } from '../../src/gateway/deadlines.ts';
import { generateApiKey } from '../../src/gateway/keys/api-key.ts';
import { createAuthenticator, readBearerKey } from '../../src/gateway/keys/authenticator.ts';
import type { StoredKey } from '../../src/gateway/keys/key-store.ts';

afterEach(() => void vi.useRealTimers());

const KEY: StoredKey = {
  id: '1',
  ownerId: '1',
  name: 'test',
  prefix: '',
  readOnly: false,
  createdAt: new Date(),
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
};

/** Until when a key is believed that a database finds `tookMs` after it was asked, in ms since the question. */
async function believedAfter(key: StoredKey, tookMs: number): Promise<number> {
  let moment = 1000;
  const keys = {
    async findByHash() {
      moment += tookMs;
      return key;
    },
  };
  const authenticator = createAuthenticator(keys, () => moment);
  const { validUntil } = await authenticator.lookUp(generateApiKey());
  return validUntil - 1000;
}

test('a key is believed for four seconds from the question, however late the answer came', async () => {
  expect(await believedAfter(KEY, 0)).toBe(4000);
  expect(await believedAfter(KEY, 1500)).toBe(4000);
});

test('a key is not believed any more at the very end of its time', async () => {
  let moment = 1000;
  const { lookUp, findCached } = createAuthenticator({ findByHash: async () => KEY }, () => moment);
  const key = generateApiKey();
  moment = (await lookUp(key)).validUntil;
  expect(findCached(key)).toBeUndefined();
});

test('a key that expires is believed until then, from the answer on: it says how much is left', async () => {
  const leftMs = (await believedAfter({ ...KEY, expiresAt: new Date(Date.now() + 1000) }, 1500)) - 1500;
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(1000);
});

test('a look-up that waited for others as long as a look-up may take is 503, and asks nothing', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const asked: PromiseWithResolvers<undefined>[] = [];
  const keys = {
    findByHash() {
      const question = Promise.withResolvers<undefined>();
      asked.push(question);
      return question.promise;
    },
  };
  const { lookUp } = createAuthenticator(keys);
  const outcomes = Array.from({ length: 21 }, () => lookUp(generateApiKey()).catch(({ code }) => code));
  expect(asked).toHaveLength(20);
  vi.advanceTimersByTime(KEY_LOOKUP_MS);
  for (const { resolve } of asked) resolve(undefined);
  expect(await Promise.all(outcomes)).toEqual([...Array(20).fill('unauthorized'), 'service_unavailable']);
  expect(asked).toHaveLength(20);
});

test('other requests are read between the look-ups of many keys, however fast the database answers', async () => {
  let asked = 0;
  const { lookUp } = createAuthenticator({
    async findByHash() {
      asked++;
      return undefined;
    },
  });
  const outcomes = Array.from({ length: 60 }, () => lookUp(generateApiKey()).catch(({ code }) => code));
  await turn();
  expect(asked).toBe(20);
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['unauthorized']));
  expect(asked).toBe(60);
});

test.each(['Bearer KEY', 'bearer KEY', 'BEARER   KEY'])('the key of %s is KEY, so it is looked up once', (header) => {
  expect(readBearerKey(header)).toBe('KEY');
});

test('10,000 keys are cached: the one that was looked up longest ago goes first', async () => {
  const { lookUp, findCached } = createAuthenticator({ findByHash: async () => KEY }, () => 0);
  const keys = Array.from({ length: 10_001 }, () => generateApiKey());
  for (const key of keys) await lookUp(key);
  expect(keys.map((key) => findCached(key) !== undefined).indexOf(true)).toBe(1);
});
