import { connect } from 'node:net';
import Koa from 'koa';
import { describe, expect, it, test } from 'vitest';
import { ApiError } from '../../src/gateway/errors.ts';
import { createAdmission } from '../../src/gateway/http/admission.ts';
import { allowOrigins } from '../../src/gateway/http/allow-origins.ts';
import { pageRoutes } from '../../src/gateway/http/assets.ts';
import { errorBody } from '../../src/gateway/http/refusal.ts';
import { requestLog } from '../../src/gateway/http/request-log.ts';
import { createAuthenticator } from '../../src/gateway/keys/authenticator.ts';
import { shareLimitsOf } from '../../src/gateway/load/shares.ts';
import { createLog } from '../../src/gateway/log.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import type { Page } from '../../src/gateway/pages/page.ts';
import { send } from '../support/client.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { eventually, sumMetric } from '../support/load.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { serveApp } from '../support/served-app.ts';

const [sqlite] = ENGINES as [TestEngine]; // always there; refusals are the same on each engine
const lines: Record<string, unknown>[] = [];
const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
const metrics = createMetrics(() => ({ used: 0, free: 0, waiting: 0 }));

/** Listens with the middleware below the request log and the form of errors. */
function serve(...middleware: readonly Koa.Middleware[]): Promise<string> {
  const app = new Koa();
  for (const one of [
    requestLog(log, metrics, { operations: new Set(), probes: new Set() }),
    errorBody(log),
    ...middleware,
  ])
    app.use(one);
  return serveApp(app);
}

/** An admission whose keys have so many bytes together, and a key. */
async function admitUpTo(bytes: number) {
  const { keys, key } = await prepareDatabase(sqlite);
  const usage = { noteUse() {}, noteDeprecatedUse() {}, close: async () => {} };
  const authenticator = createAuthenticator(keys);
  const limits = { ...shareLimitsOf(1), bytes };
  return {
    key,
    admission: createAdmission({ authenticator, usage, metrics, bodyLimitBytes: 1024, limits, rateLimit: undefined }),
  };
}

/** An immutable asset that cannot be read the first time. */
function failingOnce(): Page {
  let reads = 0;
  return {
    path: '/assets/one.js',
    contentType: 'text/javascript; charset=utf-8',
    immutable: true,
    async load() {
      if (++reads === 1) throw new Error('it cannot be read now');
      return Buffer.from('const one = 1;');
    },
  };
}

describe('a refusal has no header of what is not sent', () => {
  it.each(['identity', 'gzip', 'br'])('an asset that fails once, Accept-Encoding: %s', async (encoding) => {
    const [route] = pageRoutes([failingOnce()]);
    const url = await serve((ctx) => route?.handle(ctx));
    const ask = () => send(`${url}/assets/one.js`, { headers: { 'accept-encoding': encoding } });
    const failed = await ask();
    expect([failed.status, failed.json.code]).toEqual([500, 'internal_error']);
    expect(failed.headers.get('cache-control')).toBe('no-store');
    expect([failed.headers.get('content-encoding'), failed.headers.get('etag')]).toEqual([null, null]);
    const { status, headers, text } = await ask();
    expect([status, text]).toEqual([200, 'const one = 1;']);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
  });

  test('an answer that is thrown away keeps what Link tells of the operation, and names no next page', async () => {
    const { admission, key } = await admitUpTo(100_000);
    const tooLarge = 'x'.repeat(100_001);
    const url = await serve((ctx) => {
      ctx.set('Link', '</v1/pets>; rel="successor-version"');
      return admission.admit(ctx, () =>
        admission.run(ctx, async () => {
          ctx.append('Link', '<http://x/v1/pets?after=1>; rel="next"');
          ctx.body = tooLarge;
        }),
      );
    });
    const { status, headers } = await send(url, { headers: { authorization: `Bearer ${key}` } });
    expect(status).toBe(429);
    expect(headers.get('link')).toBe('</v1/pets>; rel="successor-version"');
  });
});

test('a client that goes before its answer begins is 499 in the log and in the metrics', async () => {
  const begun = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const url = await serve(async (ctx) => {
    ctx.res.once('close', gone.resolve);
    begun.resolve();
    await gone.promise;
    ctx.body = 'nobody reads this';
  });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n');
  await begun.promise;
  socket.destroy();
  const line = await eventually(() => lines.find(({ aborted }) => aborted), 5000, 'its line in the log');
  expect(line.status).toBe(499);
  const page = await metrics.registry.metrics();
  expect(sumMetric(page, 'http_request_duration_seconds_count', 'status="499"')).toBe(1);
  expect(sumMetric(page, 'http_request_duration_seconds_sum', 'status="499"')).toBeCloseTo(Number(line.ms) / 1000, 3);
});

test('an answer that is made when its client has gone leaves no bytes counted', async () => {
  const { admission, key } = await admitUpTo(100_000);
  const begun = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let isFirst = true;
  const url = await serve((ctx) =>
    admission.admit(ctx, async () => {
      const waits = isFirst;
      isFirst = false;
      const work = async () => {
        if (waits) {
          ctx.res.once('close', gone.resolve);
          begun.resolve();
          await gone.promise;
        }
        ctx.body = 'x'.repeat(60_000); // two of them are too many
      };
      await admission.run(ctx, work).finally(done.resolve);
    }),
  );
  const headers = { authorization: `Bearer ${key}` };
  const leaving = new AbortController();
  const left = fetch(url, { headers, signal: leaving.signal }).catch(() => 'it left');
  await begun.promise;
  leaving.abort();
  await Promise.all([left, done.promise]);
  expect((await send(url, { headers })).status).toBe(200);
});

test('one error that refuses several browsers tells each of its own origin', async () => {
  const origins = ['https://one.example', 'https://two.example'];
  const shared = new ApiError('service_unavailable', 'The service is temporarily unavailable.');
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const url = await serve(allowOrigins({ corsOrigins: origins, rateLimit: undefined }, ['GET']), async (ctx) => {
    ctx.vary('Accept');
    if (++waiting === origins.length) gate.resolve();
    await gate.promise;
    throw shared;
  });
  const answers = await Promise.all(origins.map((origin) => send(url, { headers: { origin } })));
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  expect(answers.map(({ headers }) => headers.get('access-control-allow-origin'))).toEqual(origins);
  for (const { headers } of answers) {
    expect(headers.get('vary')).toBe('Origin, Accept');
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(headers.get('retry-after')).toBe('1');
  }
  expect(Object.keys(shared.headers)).toEqual(['Retry-After']);
});
