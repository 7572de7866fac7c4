import type { Connection } from 'mysql2';
import { expect, test } from 'vitest';
import type { MysqlSession, Role } from '../../src/database/mysql/mysql-session.ts';
import { createWritableHost } from '../../src/database/mysql/writable-host.ts';

/** Servers by the last digit of their address, and what became of the sessions on them. */
function serversOf(roles: Record<string, Role>) {
  const opened: string[] = [];
  const ended: string[] = [];
  const hosts = Object.keys(roles).map((digit) => ({ host: `192.0.2.${digit}`, port: 3306 }));
  const openWritable = createWritableHost(hosts, async ({ address }) => {
    const digit = address.slice(-1);
    opened.push(digit);
    const connection = { end: () => void ended.push(digit), stream: { destroy() {} } } as unknown as Connection; // all that is asked of it
    return { connection, role: roles[digit] ?? 'not ready' } as MysqlSession; // nobody here looks at more
  });
  return { openWritable, opened, ended };
}

test('every session that is not used is ended: of a server that was chosen, and of those that are asked', async () => {
  const roles: Record<string, Role> = { 1: 'writable', 2: 'read-only' };
  const { openWritable, opened, ended } = serversOf(roles);
  expect((await openWritable()).role).toBe('writable');
  expect([opened, ended]).toEqual([['1'], []]);
  roles[1] = 'read-only';
  roles[2] = 'writable';
  expect((await openWritable()).role).toBe('writable');
  expect(opened).toEqual(['1', '1', '1', '2']);
  expect(ended).toEqual(['1', '1']);
  roles[2] = 'not ready';
  await expect(openWritable()).rejects.toMatchObject({ code: 'POOL_NO_WRITER' });
  expect(ended).toHaveLength(opened.length - 2); // those that were given out are their users'
});

test('a lone server is taken although it is read-only, and not when it is no working member', async () => {
  const roles: Record<string, Role> = { 1: 'read-only' };
  const { openWritable, ended } = serversOf(roles);
  expect((await openWritable()).role).toBe('read-only');
  roles[1] = 'not ready';
  await expect(openWritable()).rejects.toMatchObject({ code: 'POOL_NO_WRITER' });
  expect(ended).toEqual(['1']);
});
