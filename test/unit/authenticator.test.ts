import { expect, test } from 'vitest';
import { generateApiKey } from '../../src/keys/api-key.ts';
import { createAuthenticator } from '../../src/keys/authenticator.ts';
import type { ApiKey } from '../../src/keys/key-store.ts';

const KEY: ApiKey = {
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
async function believedAfter(key: ApiKey, tookMs: number): Promise<number> {
  let moment = 1000;
  const keys = {
    async findByHash() {
      moment += tookMs;
      return key;
    },
    hashesCreatedSince: async () => [],
  };
  const authenticator = createAuthenticator(keys as unknown as Parameters<typeof createAuthenticator>[0], () => moment); // all that it asks
  const { validUntil } = await authenticator.lookUp(`Bearer ${generateApiKey()}`);
  return validUntil - 1000;
}

test('a key is believed for four seconds from the question, however late the answer came', async () => {
  expect(await believedAfter(KEY, 0)).toBe(4000);
  expect(await believedAfter(KEY, 1500)).toBe(4000);
});

test('a key that expires is believed until then, from the answer on: it says how much is left', async () => {
  const leftMs = (await believedAfter({ ...KEY, expiresAt: new Date(Date.now() + 1000) }, 1500)) - 1500;
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(1000);
});
