import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, it, test } from 'vitest';
import { ApiError, toApiError } from '../../src/gateway/errors.ts';
import { errorAnswer, writeRestError } from '../../src/gateway/http/answer.ts';
import { createRequestLog } from '../../src/gateway/http/request-log.ts';
import { createLog } from '../../src/gateway/log.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import type { Page } from '../../src/gateway/pages/page.ts';
import { pageRoutes } from '../../src/gateway/pages/page-routes.ts';
import { callOf } from '../support/calls.ts';
import { eventually, sumMetric } from '../support/load.ts';
import { serveListener } from '../support/served-app.ts';

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

it.each(['identity', 'gzip', 'br'])(
  'a refusal has no header of what is not sent: an asset that fails once, Accept-Encoding: %s',
  async (encoding) => {
    const [route] = pageRoutes([failingOnce()]);
    const ask = async () => route?.handle(callOf({ headers: { 'accept-encoding': encoding } }));
    await expect(ask()).rejects.toThrow('it cannot be read now');
    const answer = await ask();
    expect(answer?.headers).toMatchObject({ 'Cache-Control': 'public, max-age=31536000, immutable' });
    expect(answer?.headers?.['Content-Encoding']).toBe(encoding === 'identity' ? undefined : encoding);
  },
);

test('a client that goes before its answer begins is 499 in the log and in the metrics', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
  const metrics = createMetrics(() => ({ used: 0, free: 0, waiting: 0 }));
  const logRequest = createRequestLog(log, metrics, new Set());
  const begun = Promise.withResolvers<void>();
  const url = await serveListener(
    createServer((_request, response) => {
      logRequest(callOf(), response);
      begun.resolve();
    }),
  );
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

test('one error that refuses several requests is not changed by any of them', () => {
  const shared = new ApiError('service_unavailable', 'The service is temporarily unavailable.');
  const answers = [1, 2].map(() => errorAnswer(toApiError(shared), writeRestError));
  expect(answers[0]).toEqual(answers[1]);
  expect(Object.keys(shared.headers)).toEqual(['Retry-After']);
});
