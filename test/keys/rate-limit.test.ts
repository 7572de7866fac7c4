import { expect, test } from 'vitest';
import { RATE_COUNT_MS } from '../../src/gateway/deadlines.ts';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { startPrepared } from '../support/prepared.ts';
import { RETRY_LATE } from '../support/stall-clock.ts';

const POLICY = '"default";q=3;w=60';

describeEachEngine('rate limits', (engine) => {
  test('a key has so many requests a window over both APIs, and every answer tells what is left', async () => {
    const gateway = await startGateway(engine, { RATE_LIMIT: '3/1m' });
    const answers = [
      await gateway.request('/v1/pets'),
      await gateway.graphql('{ pets { id } }'),
      await gateway.request('/v1/pets?limit=0'),
      await gateway.request('/v1/pets'),
      await gateway.graphql('{ pets { id } }'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 429, 429]);
    expect(answers.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(Array(5).fill(POLICY));
    const left = answers.map(({ headers }) => /^"default";r=(\d);t=(\d+)$/.exec(headers.get('ratelimit') ?? '')?.[1]);
    expect(left).toEqual(['2', '1', '0', '0', '0']);
    const [rest, graphql] = answers.slice(3);
    expect(rest?.json).toMatchObject({ code: 'too_many_requests', status: 429 });
    const retryAfter = Number(graphql?.headers.get('retry-after'));
    expect(graphql?.json.errors[0].extensions).toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfter });
    expect(Number(rest?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(rest?.headers.get('retry-after'))).toBeLessThanOrEqual(60);

    const { key } = await gateway.keys.create({ name: 'other', expiresAt: null });
    const other = await gateway.request('/v1/pets', {
      headers: { authorization: `Bearer ${key}`, origin: 'https://a.example' },
    });
    expect(other.status).toBe(200);
    expect(other.headers.get('access-control-expose-headers')).toContain('RateLimit-Policy,RateLimit');
    const unknown = await gateway.request('/v1/pets', { headers: { authorization: 'Bearer none' } });
    expect([unknown.status, unknown.headers.has('ratelimit')]).toEqual([401, false]);
  });

  test('without a limit no answer has the fields', async () => {
    const gateway = await startGateway(engine);
    expect((await gateway.request('/v1/pets')).headers.has('ratelimit-policy')).toBe(false);
  });

  test('two workers count together', RETRY_LATE, async () => {
    const { gateway, key } = await startPrepared(engine, { RATE_LIMIT: '10/1h', WORKERS: '2' });
    const headers = { authorization: `Bearer ${key}`, connection: 'close' };
    const counted: number[] = [];
    let uncounted = 0;
    // A request whose count does not come in time passes, and tells no count; it may be counted afterwards.
    while (counted.length < 14 && uncounted < 3) {
      const askedAt = performance.now();
      const { status, headers: told } = await fetch(`${gateway.url}/v1/pets`, { headers });
      if (told.has('ratelimit')) counted.push(status);
      else {
        expect(performance.now() - askedAt).toBeGreaterThan(0.9 * RATE_COUNT_MS);
        uncounted++;
      }
    }
    expect(uncounted, 'late').toBeLessThan(3);
    const served = counted.filter((status) => status === 200).length;
    expect(served).toBeLessThanOrEqual(10);
    expect(served).toBeGreaterThanOrEqual(10 - uncounted);
    expect(counted).toEqual([...Array(served).fill(200), ...Array(14 - served).fill(429)]);
  });
});
