import { expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { isRefused, served } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { startProcess } from '../support/process.ts';
import { addLarge } from './large-loads.ts';

/** Far less than what is asked for; the process ends when it does not suffice. */
const HEAP_MB = 256;
/** The longest that a setting allows. */
const LONGEST = 4 * 2 ** 20;
const JUNK: Readonly<Record<string, string>> = {
  'objects and one number': `{"a":[${'{},'.repeat(LONGEST / 3 - 20)}1e1]}`,
  'as many numbers as pass, and a long text': `{"categoryId":[${'1e2,'.repeat(32_000)}1],"name":"${'x'.repeat(LONGEST - 150_000)}"}`,
  'a long name': `{"categoryId":1,"name":"${'x'.repeat(LONGEST - 40)}"}`,
};
const BURST = 40;

describeEachEngine(`the largest BODY_LIMIT, with a heap of ${HEAP_MB} MB`, (engine) => {
  test('pages of the longest names and bodies of every kind: the process lives, another key is served', async () => {
    const prepared = await prepareDatabase(engine);
    const { key: greedy } = await prepared.keys.create({ name: 'greedy', expiresAt: null });
    await addLarge(prepared.database, 60, LONGEST - 100);
    const gateway = await startProcess({
      DATABASE_URL: prepared.url,
      BODY_LIMIT: String(LONGEST),
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    });
    const ask = (key: string, path: string, body?: string) =>
      fetch(`${gateway.url}${path}`, {
        ...(body && { method: 'POST', body }),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      }).then(async (answer) => ({ status: answer.status, text: await answer.text() }));
    const askAlone = (path: string, body?: string) => served(() => ask(prepared.key, path, body));
    const page = await askAlone('/v1/pets?limit=100');
    expect(page.status).toBe(400);
    expect(page.text).toContain('ask for a smaller limit');
    expect((await askAlone('/v1/pets?limit=7')).status).toBe(200);
    const lists = Array.from({ length: 5 }, (_, n) => `a${n}: pets(limit: 7, after: "${n}") { name }`).join(' ');
    const { text } = await askAlone('/graphql', JSON.stringify({ query: `{ ${lists} }` }));
    expect(text).toContain('MAX_RESPONSE_BYTES_EXCEEDED');
    const kinds = [undefined, ...Object.values(JUNK)];
    const burst = Array.from({ length: BURST }, (_, n) => {
      const body = kinds[n % kinds.length];
      return ask(greedy, body === undefined ? `/v1/pets?limit=100&after=${n % 20}` : '/v1/pets', body);
    });
    let polite = await ask(prepared.key, '/v1/pets?limit=1');
    // A machine with much else to do may be too late for it, not again and again.
    for (let again = 0; isRefused(polite) && again < 2; again++) polite = await ask(prepared.key, '/v1/pets?limit=1');
    expect(polite.status).toBe(200);
    for (const { status } of await Promise.all(burst)) expect([200, 201, 400, 413, 429, 503]).toContain(status);
    expect(gateway.child.exitCode).toBeNull();
  }, 300_000);
});
