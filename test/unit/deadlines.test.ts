import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as deadlines from '../../src/gateway/deadlines.ts';
import { constantIn } from '../docs/constants.ts';
import { ROOT } from '../support/tracked-files.ts';

const TIMES = { ...deadlines };
type Name = keyof typeof TIMES;

/** What README and ARCHITECTURE promise, in ms. */
const PROMISED = { answered: 5500, revoked: 5000, held: 60_000, stopped: 1000 };

/** Whoever changes a time learns here with which others it must fit: their sum is that at the most. */
const SUMS: readonly (readonly [reason: string, parts: readonly Name[], most: Name | number])[] = [
  ['an answer comes within 5.5 s, from a late event loop, too', ['REQUEST_MS', 'LAG_LIMIT_MS'], PROMISED.answered],
  ['after its key a request may wait for a lock', ['KEY_LOOKUP_MS', 'LOCK_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['far away, too', ['KEY_LOOKUP_MS', 'DISTANT_LOCK_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['what is called distant is asked often enough', ['DISTANT_MS'], 'ROLE_INTERVAL_MS'],
  ['after its share a request may wait for a lock', ['SHARE_WAIT_MS', 'LOCK_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['key, count and share leave time to say no', ['KEY_LOOKUP_MS', 'RATE_COUNT_MS', 'SHARE_WAIT_MS'], 'REQUEST_MS'],
  [
    'after its count it may wait for share and lock',
    ['RATE_COUNT_MS', 'SHARE_WAIT_MS', 'LOCK_MS', 'ANSWER_MS'],
    'REQUEST_MS',
  ],
  ['after its share a key may be looked up again', ['SHARE_WAIT_MS', 'KEY_LOOKUP_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['a key is looked up again long before it is not believed', ['KEY_REFRESH_MS', 'KEY_REFRESH_MS'], 'KEY_CACHE_MS'],
  ['a revoked key begins nothing after 5 s', ['KEY_CACHE_MS', 'ANSWER_MS'], PROMISED.revoked],
  ['a new attempt may wait for a lock', ['LOCK_MS', 'ANSWER_MS'], 'RETRY_LEAST_MS'],
  ['there is time for a new attempt', ['RETRY_LEAST_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['no statement goes on for long after its request', ['STATEMENT_MS'], 'REQUEST_MS'],
  ['after a create that was lost another may wait for a lock', ['ID_LOCK_MS', 'LOCK_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['creates behind several that wait for a record come soon', ['RECORD_WAIT_MS', 'RECORD_WAIT_MS'], 'LAG_LIMIT_MS'],
  ['SQLite: a look at its file holds the event loop for less than an overload', ['PEEK_MS'], 'LAG_LIMIT_MS'],
  ['SQLite: who is next waits longer than who is before it', ['BUSY_MS', 'ANSWER_MS'], 'ACQUIRE_MS'],
  ['SQLite: after its turn a statement may wait', ['ACQUIRE_MS', 'BUSY_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['a name is found and a server is reached', ['NAME_LOOKUP_MS', 'CONNECT_MS', 'ANSWER_MS'], 'REQUEST_MS'],
  ['a retry succeeds a minute after its gateway vanished', ['SESSION_IDLE_MS', 'REQUEST_MS'], PROMISED.held],
  ['a busy server is heard before its word is too old', ['ROLE_INTERVAL_MS', 'ROLE_TIMEOUT_MS'], 'ROLE_MAX_AGE_MS'],
  ['a probe may ask a server whether it takes writes', ['ROLE_TIMEOUT_MS', 'ANSWER_MS'], 'PROBE_MS'],
  [
    'asking twice is no slower than a request',
    ['PROBE_MS', 'PROBE_DISTANCE_MS', 'PROBE_MS', 'PROBE_DISTANCE_MS'],
    'REQUEST_MS',
  ],
  ['requests that hold a lock end before a migration gives up', ['REQUEST_MS', 'LOCK_MS'], 'LONG_WORK_LOCK_MS'],
  ['one migration may wait for a lock while another waits for it', ['LONG_WORK_LOCK_MS'], 'MIGRATION_LOCK_MS'],
  ['a migration has time left after its wait', ['MIGRATION_LOCK_MS', 'CONNECT_MS'], 'LONG_WORK_MS'],
  ['one write of counts ends before the next', ['REQUEST_MS', 'REQUEST_MS'], 'USAGE_FLUSH_MS'],
  ['a worker waits longer than the primary waits for all', ['WORKERS_WAIT_MS', 'ANSWER_MS'], 'PRIMARY_WAIT_MS'],
  [
    'last counts, then connections, then the last lines',
    ['LAST_COUNTS_MS', 'CONNECTION_END_MS', 'LAST_LINES_MS'],
    'CLOSING_MS',
  ],
  ['a stop ends within a second after the grace, of workers too', ['CLOSING_MS', 'WORKERS_FIRST_MS'], PROMISED.stopped],
  ['a stop is no worse for requests than an event loop that is late', ['ACCEPT_MS'], 'LAG_LIMIT_MS'],
  ['an idle connection lives longer than a stop waits for it', ['DRAIN_MS'], 'KEEP_ALIVE_MS'],
  ['a header is part of a request', ['HEADERS_MS'], 'RECEIVE_MS'],
  ['who is too slow is found soon after', ['CONNECTIONS_CHECK_MS'], 'HEADERS_MS'],
  ['who waits for an answer is not taken for one that stalls', ['REQUEST_MS', 'LAG_LIMIT_MS'], 'STALLED_MS'],
];

const msOf = (time: Name | number) => (typeof time === 'number' ? time : TIMES[time]);

describe('times that must fit together', () => {
  test.each(SUMS)('%s', (_reason, parts, most) => {
    expect(
      parts.reduce((sum, name) => sum + TIMES[name], 0),
      parts.join(' + '),
    ).toBeLessThanOrEqual(msOf(most));
  });

  test('what a database takes in whole seconds is some', () => {
    const names: Name[] = ['LOCK_MS', 'DISTANT_LOCK_MS', 'STATEMENT_MS', 'SESSION_IDLE_MS'];
    names.push('LONG_WORK_LOCK_MS', 'MIGRATION_LOCK_MS', 'LONG_WORK_MS');
    for (const name of names) expect(TIMES[name] % 1000, name).toBe(0);
  });

  test('the pool closes an idle connection before the server does', () => {
    // It looks for them every half of that time.
    expect(1.5 * constantIn('session-pool.ts', 'IDLE_MS')).toBeLessThan(TIMES.SESSION_IDLE_MS);
  });

  test.each([
    ['nginx.conf', /keepalive_timeout (\d+)ms;/g],
    ['Caddyfile', /\bkeepalive (\d+)ms$/gm],
    ['Caddyfile', /\bhealth_interval (\d+)ms$/gm],
  ])('%s: a proxy closes an idle connection, and hears of our stop, well before we close: %s', (name, pattern) => {
    const found = [...readFileSync(join(ROOT, 'deploy', name), 'utf8').matchAll(pattern)];
    expect(found).not.toEqual([]);
    for (const [, ms] of found) expect(2 * Number(ms)).toBeLessThanOrEqual(TIMES.DRAIN_MS);
  });

  test('every time of the table fits with another', () => {
    const named = new Set<unknown>(SUMS.flatMap(([, parts, most]) => [...parts, most]));
    expect(Object.keys(TIMES).filter((name) => !named.has(name))).toEqual([]);
  });
});
