import cluster, { type Worker } from 'node:cluster';
import { Counter, Registry } from 'prom-client';
import { afterAll, expect, test } from 'vitest';
import { createLog } from '../../src/log.ts';
import { answerMetricsRequests } from '../../src/process/worker-metrics.ts';

afterAll(() => {
  for (const event of ['message', 'exit']) cluster.removeAllListeners(event);
});

/** What a worker sends that has served so many requests. */
async function metersOf(count: number) {
  const registry = new Registry();
  new Counter({ name: 'served_total', help: 'Requests.', registers: [registry] }).inc(count);
  return { type: 'metrics:meters', meters: await registry.getMetricsAsJSON() };
}

test('the metrics are the sum of the workers that live', async () => {
  answerMetricsRequests(createLog('silent', { write() {} }));
  const { promise: answer, resolve } = Promise.withResolvers<{ page: string }>();
  const workers = [1, 2, 3].map((id) => ({ id, send: resolve }) as unknown as Worker); // all that is used of them
  for (const worker of workers) cluster.emit('message', worker, await metersOf(10 ** worker.id));
  cluster.emit('exit', workers[0]);
  cluster.emit('message', workers[1], { type: 'metrics:ask-page' });
  cluster.emit('exit', { id: 4 }); // nobody is waited for any more
  expect((await answer).page).toContain('served_total 1100');
});
