import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitConnections } from '../../src/gateway/load/connection-limit.ts';
import { createLog } from '../../src/gateway/log.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('connections that come at once close as many others, the longest idle first, and then themselves', () => {
  const closed: string[] = [];
  const connection = (name: string) =>
    Object.assign(new EventEmitter(), { destroy: () => void closed.push(name) }) as unknown as Socket; // all that is used
  const server = new EventEmitter();
  const idle = new Set(['first', 'second'].map(connection));
  limitConnections(server as Server, idle, 0, createLog('silent')); // it only listens
  for (const name of ['third', 'fourth', 'fifth']) server.emit('connection', connection(name));
  expect(closed).toEqual(['first', 'second', 'fifth']);
});

test('the log has how many connections were closed since its last line, once a minute', () => {
  const lines: string[] = [];
  const server = new EventEmitter();
  const log = createLog('warn', { write: (line: string) => lines.push(line) });
  limitConnections(server as Server, new Set(), 2, log); // it only listens
  const open = () => server.emit('connection', Object.assign(new EventEmitter(), { destroy() {} }) as Socket);
  for (let count = 0; count < 5; count++) open();
  vi.advanceTimersByTime(59_999);
  open();
  vi.advanceTimersByTime(1);
  open();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { closed: 1, most: 2 },
    { closed: 4, most: 2 },
  ]);
});
