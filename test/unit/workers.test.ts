import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../src/gateway/config.ts';
import { createLog } from '../../src/gateway/log.ts';
import { superviseWorkers } from '../../src/gateway/process/workers.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('the back-off doubles while no worker can be started, to ten seconds at most', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const first = Object.assign(new EventEmitter(), { process: { pid: 1 } });
  vi.spyOn(cluster, 'fork').mockReturnValueOnce(first as unknown as Worker);
  vi.mocked(cluster.fork).mockImplementation(() => {
    throw new Error('ETXTBSY');
  });
  const waits: number[] = [];
  const note = (line: string) => void ('waitMs' in JSON.parse(line) && waits.push(JSON.parse(line).waitMs));
  superviseWorkers(readConfig({ WORKERS: '1' }), createLog('error', { write: note }), () => {});
  first.emit('listens');
  first.emit('exit', 1, null);
  vi.advanceTimersByTime(40_000);
  expect(waits).toEqual([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
});
