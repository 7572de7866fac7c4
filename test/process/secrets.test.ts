import mysql from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { hashApiKey } from '../../src/gateway/keys/api-key.ts';
import { sendRaw } from '../support/client.ts';
import { afterFile, describeOnMysql, SQLITE } from '../support/engines.ts';
import { eventually } from '../support/load.ts';
import { killSessions } from '../support/mysql-server.ts';
import { prepareDatabase } from '../support/prepared.ts';
import { run, startProcess } from '../support/process.ts';

const PAGES = ['/', '/docs', '/graphql', '/metrics', '/livez', '/readyz', '/v1/openapi.json'];
const COMMANDS: readonly (readonly [file: string, ...args: string[]])[] = [
  ['doctor'],
  ['keys', 'list'],
  ['keys', 'list', '--json'],
  ['deprecation-report', 'report'],
  ['migrate', '--status'],
];

describe('secrets', () => {
  test('the key that was used is in no log, metric, page, error, report or table', async () => {
    const prepared = await prepareDatabase(SQLITE);
    const { key } = prepared;
    const env = { DATABASE_URL: prepared.url, LOG_LEVEL: 'trace' };
    const gateway = await startProcess(env);
    const seen: string[] = [];
    const ask = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${key}`, ...Object.fromEntries(new Headers(init.headers)) };
      const response = await fetch(gateway.url + path, { ...init, headers });
      seen.push(JSON.stringify([...response.headers]), await response.text());
    };
    const post = (path: string, body: unknown, headers = {}) =>
      ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    for (const path of PAGES) await ask(path, { headers: { accept: 'text/html' } });
    for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets?limit=x', `/v1/pets?key=${key}`, `/v1/${key}`, `/${key}`])
      await ask(path);
    for (const headers of [{}, { 'idempotency-key': key }])
      await post('/v1/pets', { name: 'a', categoryId: 1 }, headers);
    await post('/v1/pets', { categoryId: key });
    for (const method of ['PUT', 'DELETE']) await ask(`/v1/pets/${key}`, { method });
    // Encoded once too often, and behind so much that a quotation is cut within it.
    await ask(`/v1/pets?status=petstor%2565_${key.slice(9)}`);
    for (const before of ['', 'x'.repeat(60)]) await ask(`/v1/pets?status=${before}${key}`);
    const two = `query ${key} { __typename } query b { __typename }`;
    const pet = 'query ($v: ID!) { pet(id: $v) { id } }';
    const add = 'mutation ($v: NewPetInput!) { addPet(input: $v) { id } }';
    for (const body of [
      { query: '{ pet(id: 1) { id } }' },
      { query: '{ nothing }' },
      { query: `{ ${key} }` },
      { query: two },
      { query: two, operationName: `${key}x` },
      { query: pet, variables: { v: [key] } },
      { query: pet, variables: { v: ['x'.repeat(30), key] } },
      { query: add, variables: { v: { name: 'a', categoryId: 1, [key]: 1 } } },
    ])
      await post('/graphql', body);
    await ask('/v1/pets', { headers: { authorization: `Bearer ${key}${key}` } });
    await ask('/v1/pets', { headers: { authorization: `Basic ${key}` } });
    await ask('/v1/pets', { headers: { 'x-request-id': key, traceparent: key } });
    seen.push(await sendRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization Bearer ${key}\r\n\r\n`));
    seen.push(await sendRaw(gateway.port, `GET /${key} HTTP/9\r\n\r\n`));
    await ask('/metrics');
    await gateway.stop();
    for (const [file, ...args] of COMMANDS) {
      const command = run(`cli/${file}.ts`, args, env);
      await command.exited;
      seen.push(command.stdout(), command.stderr());
    }
    const tables = ['pets', 'api_keys', 'idempotency_keys', 'deprecated_use'];
    const stored = await Promise.all(tables.map((table) => prepared.database.knex(table).select('*')));
    expect(JSON.stringify(stored)).toContain(hashApiKey(key));
    seen.push(JSON.stringify(stored));
    seen.push(gateway.stdout(), gateway.stderr());
    expect(seen.length).toBeGreaterThan(50);
    expect(gateway.stdout().length).toBeGreaterThan(2000);
    expect(
      seen
        .filter((text) => text.includes(key.slice(9, 20)) || text.includes(key.slice(13)))
        .map((text) => text.slice(0, 500)),
    ).toEqual([]);
  });
});

describeOnMysql('the password of the database', (engine) => {
  test('is nowhere', async () => {
    const url = await engine.freshDatabase();
    const root = await mysql.createConnection(url);
    const user = `app_${process.pid}`;
    await root.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'S3cr@t/42'`);
    await root.query(`GRANT ALL ON *.* TO '${user}'@'%'`);
    afterFile(async () => {
      await root.query(`DROP USER '${user}'@'%'`);
      await root.end();
    });
    const address = new URL(url);
    const env = {
      DATABASE_URL: `mysql://${user}:S3cr%40t%2F42@${address.host}${address.pathname}`,
      LOG_LEVEL: 'trace',
    };
    const gateway = await startProcess(env);
    const pages = await Promise.all(PAGES.map(async (path) => (await fetch(gateway.url + path)).text()));
    await root.query(`ALTER USER '${user}'@'%' IDENTIFIED BY 'another'`); // from now on the gateway is refused
    await killSessions(root, user);
    const isRefused = async () => {
      const answer = await fetch(`${gateway.url}/readyz`);
      pages.push(await answer.text());
      return answer.status === 503;
    };
    await eventually(isRefused, 10_000, 'it is not ready'); // what it found within the last second is told again
    const doctor = run('cli/doctor.ts', [], env);
    expect((await doctor.exited).code).toBe(1);
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    const all = [...pages, doctor.stdout(), doctor.stderr(), gateway.stdout(), gateway.stderr()].join('\n');
    expect(all).not.toMatch(/S3cr/);
    expect(doctor.stdout()).toContain(`mysql://${user}:***@`);
  });
});
