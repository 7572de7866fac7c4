import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitConnections, maxConnections } from '../../../src/lib/ordered-http/connection-limit.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('connections that come at once close as many others, the longest idle first, and then themselves', () => {
  const closed: string[] = [];
  const connection = (name: string) =>
    Object.assign(new EventEmitter(), { destroy: () => void closed.push(name) }) as unknown as Socket; // all that is used
  const server = new EventEmitter();
  const idle = new Set(['first', 'second'].map(connection));
  limitConnections(server as Server, idle, 0, () => {}); // it only listens
  for (const name of ['third', 'fourth', 'fifth']) server.emit('connection', connection(name));
  expect(closed).toEqual(['first', 'second', 'fifth']);
});

test('how many connections were closed since the last time is told once a minute', () => {
  const told: number[] = [];
  const server = new EventEmitter();
  limitConnections(server as Server, new Set(), 2, (closed) => told.push(closed)); // it only listens
  const open = () => server.emit('connection', Object.assign(new EventEmitter(), { destroy() {} }) as Socket);
  for (let count = 0; count < 5; count++) open();
  vi.advanceTimersByTime(59_999);
  open();
  vi.advanceTimersByTime(1);
  open();
  expect(told).toEqual([1, 4]);
});

test('files that are needed for other things are none for connections; some connections there always are', () => {
  const most = maxConnections(0);
  expect(maxConnections(1e9)).toBe(16);
  expect(most).toBeGreaterThan(16);
});
