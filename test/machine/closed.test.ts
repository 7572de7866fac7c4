import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import { SQLITE } from '../support/engines.ts';
import type { TestGateway } from '../support/gateway.ts';
import { watchStatements } from '../support/statements.ts';
import { ROOT, tracked } from '../support/tracked-files.ts';
import { generateMutations, generateQueries } from './generated-operations.ts';
import { addSamples, countRows, SERVICES } from './services.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** THE list of what CONTRACT leaves open, beside the assets of the pages. */
const openPaths = (basePath: string) =>
  ['/', '/docs', '/favicon.ico', '/graphql', '/livez', '/metrics', '/readyz', '/schema.graphql']
    .concat(`${basePath}/openapi.json`)
    .sort();

/** The status of a request; the body that its header announces never comes. */
function statusOf({ port }: TestGateway, method: string, path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, (answer) => {
    resolve(answer.statusCode ?? 0);
    sent.destroy();
  });
  sent.on('error', reject);
  sent.flushHeaders();
  if (headers['content-length'] === undefined) sent.end();
  return promise;
}

/** A path of the table, with a parameter in place of each brace. */
const fill = (path: string) => path.replaceAll(/\{\w+\}/g, '1');

/** THE list of who writes to a connection: the one place that sends answers, and that for what Node's parser refuses. */
const WRITERS = ['src/gateway/http/answer.ts', 'src/lib/ordered-http/refused-requests.ts'];

test('only these write an answer: handlers give one, as a value', () => {
  const room = /^src\/(?:gateway|lib)\/.*\.ts$/;
  const writes = (path: string) =>
    /\b(?:answer|res|response|socket)\.(?:end|write|writeHead)\(/.test(readFileSync(join(ROOT, path), 'utf8'));
  expect(tracked.filter((path) => room.test(path) && writes(path)).sort()).toEqual(WRITERS);
});

describe('closed by default', () => {
  describe.each(SERVICES)('$name', ({ start }) => {
    let gateway: TestGateway;
    let readOnly: Record<string, string>;
    const statements: string[] = [];
    /** What `work` sends to the database, but what belongs to keys. */
    const statementsOf = async (work: () => Promise<unknown>) => {
      statements.length = 0;
      await work();
      return statements.filter((sql) => !/\b(?:api_keys|deprecated_use)\b/.test(sql));
    };
    beforeAll(async () => {
      gateway = await start(SQLITE, { LOG_LEVEL: 'silent' });
      await addSamples(gateway, 3);
      const { key } = await gateway.keys.create({ name: 'reader', expiresAt: null, readOnly: true });
      readOnly = { authorization: `Bearer ${key}` };
      watchStatements(gateway.database, (sql) => statements.push(sql));
    });

    test('without a key every route answers 401 to every method, and asks the database nothing', async () => {
      const paths = new Set([...gateway.app.routes.map(({ path }) => fill(path)), `${gateway.service.basePath}/none`]);
      const asked = [...paths].flatMap((path) => METHODS.map((method) => ({ method, path })));
      const answered: string[] = [];
      const sent = await statementsOf(async () => {
        for (const { method, path } of asked) {
          answered.push(`${method} ${path} ${await statusOf(gateway, method, path)}`);
        }
      });
      expect(answered).toEqual(asked.map(({ method, path }) => `${method} ${path} 401`));
      expect(sent).toEqual([]);
      expect(paths.size).toBeGreaterThan(2);
    });

    test('a key that nobody has is looked up, and that is all', async () => {
      const headers = { authorization: readOnly.authorization?.replace(/.{4}$/, 'none') ?? '' };
      for (const { path, methods } of gateway.app.routes) {
        const sent = await statementsOf(async () => {
          expect(await statusOf(gateway, methods[0] ?? '', fill(path), headers)).toBe(401);
        });
        expect(sent).toEqual([]);
      }
    });

    test('what is open is this list and no more', () => {
      const paths = gateway.app.open.map(({ path }) => path);
      const open = paths.filter((path) => !path.startsWith('/assets/'));
      expect(open.toSorted()).toEqual(openPaths(gateway.service.basePath));
      const shared = gateway.app.open.filter(({ sharesPath }) => sharesPath);
      expect(shared.map(({ path }) => path)).toEqual(['/graphql']);
    });

    test('below /assets/ there are scripts, styles and pictures, under the hash of what they are', async () => {
      const assets = gateway.app.open.filter(({ path }) => path.startsWith('/assets/'));
      for (const { path } of assets) {
        expect(path).toMatch(/^\/assets\/[\da-f]{12}\/[\w-]+\.(?:css|js|svg)$/);
        const { headers } = await gateway.request(path, { method: 'HEAD' });
        expect(headers.get('content-type')).toMatch(/^(?:text\/(?:css|javascript)|image\/svg\+xml); charset=utf-8$/);
        expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      }
      expect(assets.length).toBeGreaterThan(5);
    });

    test('what is open tells nothing of what is kept', async () => {
      for (const { path } of gateway.app.open) {
        const sent = await statementsOf(async () => {
          expect(await statusOf(gateway, 'GET', path, { accept: 'text/html' })).toBe(200);
        });
        const tables = gateway.service.resources.map(({ table }) => table.name);
        expect(sent.filter((sql) => tables.some((name) => sql.includes(name)))).toEqual([]);
      }
    });

    test('what is open is for reading only', async () => {
      for (const path of openPaths(gateway.service.basePath)) {
        const isClosed = path === '/graphql' || path.startsWith(gateway.service.basePath);
        for (const method of ['POST', 'PUT', 'DELETE']) {
          expect(await statusOf(gateway, method, path)).toBe(isClosed ? 401 : 405);
        }
      }
    });

    test('no field of Mutation runs with a read-only key, and nothing is written', async () => {
      const before = await countRows(gateway);
      const mutations = generateMutations(createSchema(gateway.service));
      for (const [name, document] of mutations) {
        const headers = { ...readOnly, 'idempotency-key': name };
        const sent = await statementsOf(async () => {
          const { json } = await gateway.graphql(document, undefined, headers);
          expect(json.errors).toMatchObject([{ path: [name], extensions: { code: 'FORBIDDEN' } }]);
        });
        expect(sent).toEqual([]);
      }
      expect(await countRows(gateway)).toEqual(before);
      expect(mutations.length).toBeGreaterThan(0);
    });

    test('no field of Query writes anything, whatever the key may do', async () => {
      const before = await countRows(gateway);
      const queries = generateQueries(createSchema(gateway.service));
      for (const [name, document] of queries) {
        const headers = { 'idempotency-key': name };
        const sent = await statementsOf(async () => {
          expect((await gateway.graphql(document, undefined, headers)).json).not.toHaveProperty('errors');
        });
        expect(sent.filter((sql) => !/^\s*select\b/i.test(sql))).toEqual([]);
      }
      expect(await countRows(gateway)).toEqual(before);
      expect(queries.length).toBeGreaterThan(1);
    });

    test('with a key that may write, the same mutations are good ones', async () => {
      for (const [, document] of generateMutations(createSchema(gateway.service))) {
        expect((await gateway.graphql(document)).json).toEqual({ data: expect.anything() });
      }
    });

    test('every row that changes something refuses a read-only key before the body has come', async () => {
      const changing = gateway.app.routes.filter(({ changes }) => changes);
      for (const { methods, path } of changing) {
        const headers = { ...readOnly, 'content-type': 'application/json', 'content-length': '60' };
        const sent = await statementsOf(async () => {
          expect(await statusOf(gateway, methods[0] ?? '', fill(path), headers)).toBe(403);
        });
        expect(sent).toEqual([]);
      }
      expect(changing.length).toBeGreaterThan(0);
    });
  });
});
