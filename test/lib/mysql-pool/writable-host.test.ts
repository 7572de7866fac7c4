import { execFileSync } from 'node:child_process';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { MysqlConnection } from '../../../src/lib/mysql-pool/mysql-connection.ts';
import type { MysqlSession, Role } from '../../../src/lib/mysql-pool/mysql-session.ts';
import { createWritableHost } from '../../../src/lib/mysql-pool/writable-host.ts';

/** Servers by the last digit of their address, and what became of the sessions on them. */
function serversOf(roles: Record<string, Role>) {
  const opened: string[] = [];
  const ended: string[] = [];
  const silent = new Map<string, Promise<void>>();
  const silence = (digit: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    silent.set(digit, promise);
    return resolve;
  };
  const hosts = Object.keys(roles).map((digit) => ({ host: `192.0.2.${digit}`, port: 3306 }));
  const openWritable = createWritableHost(hosts, 2000, async ({ address }) => {
    const digit = address.slice(-1);
    opened.push(digit);
    await silent.get(digit);
    const connection = { end: () => void ended.push(digit) } as unknown as MysqlConnection; // all that is asked of it
    return { connection, role: roles[digit] ?? 'not ready' } as MysqlSession; // nobody here looks at more
  });
  return { openWritable, opened, ended, silence };
}

test('the server that took writes last is tried first, then the others; what is not used is ended', async () => {
  const roles: Record<string, Role> = { 1: 'read-only', 2: 'writable', 3: 'writable' };
  const { openWritable, opened, ended } = serversOf(roles);
  expect((await openWritable()).role).toBe('writable');
  expect([opened.splice(0), ended.splice(0)]).toEqual([['1', '2'], ['1']]);
  await openWritable();
  expect([opened.splice(0), ended.splice(0)]).toEqual([['2'], []]);
  roles[2] = 'read-only';
  expect((await openWritable()).role).toBe('writable');
  expect([opened.splice(0), ended.splice(0)]).toEqual([
    ['2', '1', '3'],
    ['2', '1'],
  ]);
  roles[3] = 'not ready';
  await expect(openWritable()).rejects.toMatchObject({
    code: 'POOL_NO_WRITER',
    message: 'no server takes writes: 192.0.2.3:3306 not ready; 192.0.2.1:3306 read-only; 192.0.2.2:3306 read-only',
  });
  expect([opened.length, ended.length]).toEqual([3, 3]);
});

test('a silent server holds nobody up: the next one is tried beside it, and what it says later is ended', async () => {
  const { openWritable, opened, ended, silence } = serversOf({ 1: 'writable', 2: 'writable' });
  const speak = silence('1');
  expect((await openWritable()).role).toBe('writable');
  speak();
  await vi.waitFor(() => expect([opened, ended]).toEqual([['1', '2'], ['1']]));
});

test('a server that was found keeps no command running', () => {
  const module = new URL('../../../src/lib/mysql-pool/writable-host.ts', import.meta.url);
  const code = `import { createWritableHost } from '${module}';
    await createWritableHost([{ host: '192.0.2.1', port: 3306 }], 2000, async () => ({ role: 'writable' }))();
    console.log(process.getActiveResourcesInfo().filter((what) => what === 'Timeout'));`;
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })).toBe('[]\n');
});

test('a lone server is taken although it is read-only, and not when it is no working member', async () => {
  const roles: Record<string, Role> = { 1: 'read-only' };
  const { openWritable, ended } = serversOf(roles);
  expect((await openWritable()).role).toBe('read-only');
  roles[1] = 'not ready';
  await expect(openWritable()).rejects.toMatchObject({ code: 'POOL_NO_WRITER' });
  expect(ended).toEqual(['1']);
});

/** Every name has these addresses until the test ends, once `answered`; gives how often a name was looked up. */
function resolveNamesTo(addresses: readonly string[], answered?: Promise<void>): () => number {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const look = async () => {
    await answered;
    return found;
  };
  const lookUp = vi.spyOn(dns, 'lookup').mockImplementation(look as never); // of its overloads, the one with `all`
  syncBuiltinESMExports();
  onTestFinished(() => {
    lookUp.mockRestore();
    syncBuiltinESMExports();
  });
  return () => lookUp.mock.calls.length;
}

test.each([
  { addresses: ['::1', '127.0.0.1'], isTaken: true }, // one server, by IPv6 and by IPv4
  { addresses: ['192.0.2.1', '192.0.2.2'], isTaken: false },
])('a name with the addresses $addresses, read-only: is it taken? $isTaken', async ({ addresses, isTaken }) => {
  resolveNamesTo(addresses);
  const connection = { end() {} } as unknown as MysqlConnection; // all that is asked of it
  const openWritable = createWritableHost([{ host: 'database', port: 3306 }], 2000, async () => {
    return { connection, role: 'read-only' } as MysqlSession; // nobody here looks at more
  });
  const outcome = openWritable().catch(({ code }) => ({ role: code }));
  expect((await outcome).role).toBe(isTaken ? 'read-only' : 'POOL_NO_WRITER');
});

test('a name of which one address refuses for good: its own error; beside a host that is away: no server takes writes', async () => {
  resolveNamesTo(['::1', '127.0.0.1']);
  const away = Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED' });
  const denied = Object.assign(new Error('Access denied'), { errno: 1045, sqlState: '28000' });
  const open = ({ address }: { address: string }) => Promise.reject(address === '127.0.0.1' ? denied : away);
  const localhost = { host: 'localhost', port: 3306 };
  await expect(createWritableHost([localhost], 2000, open)()).rejects.toBe(denied);
  const withAnother = createWritableHost([localhost, { host: '192.0.2.1', port: 3306 }], 2000, open)();
  await expect(withAnother).rejects.toMatchObject({ code: 'POOL_NO_WRITER' });
});

test('a silent name server is asked once for each name, however many openings give up meanwhile; later it is asked anew', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const lookUps = resolveNamesTo(['192.0.2.1'], promise);
  const connection = { end() {} } as unknown as MysqlConnection; // all that is asked of it
  const hosts = ['a.example', 'b.example'].map((host) => ({ host, port: 3306 }));
  const openWritable = createWritableHost(hosts, 5, async () => {
    return { connection, role: 'writable' } as MysqlSession; // nobody here looks at more
  });
  for (let count = 0; count < 3; count++) await expect(openWritable()).rejects.toMatchObject({ code: 'POOL_TIMEOUT' });
  expect(lookUps()).toBe(2);
  resolve();
  await expect(openWritable()).resolves.toMatchObject({ role: 'writable' });
  expect(lookUps()).toBe(2);
  await openWritable();
  expect(lookUps()).toBe(4);
});
