import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { int64FromJson } from '../../src/lib/exact-json/exact-json.ts';
import { samplePet } from '../../src/petstore/pets/pet.ts';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { serveListener } from '../support/served-app.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { has } from '../support/tools.ts';
import { ROOT } from '../support/tracked-files.ts';

const ANIMALS = 5000;
const LARGE = 9_007_199_254_740_993n; // 2^53 + 1

const guide = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
const [, client = ''] = /```python file=petstore\.py\n([\s\S]*?)^```$/m.exec(guide) ?? [];

/** Runs a program beside the client of the guide: what it prints. */
async function runPython(program: string, url: string, key: string): Promise<string> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'petstore.py'), client);
  const head = `import sys\nfrom petstore import Petstore\nstore = Petstore(*sys.argv[1:])\n`;
  const { PATH = '', HOME = '' } = process.env;
  const options = { cwd: folder, env: { PATH, HOME } };
  return (await promisify(execFile)('python3', ['-c', head + program, url, key], options)).stdout;
}

describe.runIf(has('python'))("the guide's client in Python", () => {
  test('walks through 5,000 animals digit for digit, ids beyond 2^53 too, and waits where the rate limit says so', async () => {
    const gateway = await startGateway(SQLITE, { RATE_LIMIT: '20/4s' });
    const { knex } = gateway.database;
    await gateway.pets.addAll(Array.from({ length: ANIMALS / 2 }, (_, index) => samplePet(index)));
    await knex('pets').insert({ id: knex.raw(String(LARGE)), name: 'a large one', category_id: 1 });
    const categoryId = int64FromJson(LARGE) ?? expect.fail();
    await gateway.pets.addAll(
      Array.from({ length: ANIMALS / 2 - 1 }, (_, index) => ({ ...samplePet(index), categoryId })),
    );
    const printed = await runPython(
      'for pet in store.list_pets(): print(pet["id"], pet["categoryId"])',
      gateway.url,
      gateway.key,
    );
    const rows = await knex('pets').orderBy('id').select(knex.raw("id || ' ' || category_id AS line"));
    expect(printed.trimEnd().split('\n')).toEqual(rows.map(({ line }) => line));
    expect(rows).toHaveLength(ANIMALS);
    const sold = await runPython('print(len(list(store.list_pets("sold"))))', gateway.url, gateway.key);
    expect(sold.trim()).toBe(String((await knex('pets').where({ status: 'sold' })).length));
    expect(gateway.logs.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  });

  test('adds an animal once where the answer was lost', async () => {
    const gateway = await startGateway(SQLITE);
    const proxy = await startTcpProxy(gateway.url);
    proxy.swallowAnswersTo(/^POST/);
    const create = 'print(store.create_pet({"name": "Rex", "categoryId": 9223372036854775807}, "order-1"))';
    const printed = runPython(create, new URL(proxy.url).origin, gateway.key);
    const added = () => gateway.database.knex('pets').pluck('name');
    await eventually(async () => (await added()).length > 0, 20_000, 'the animal is added');
    proxy.swallowAnswersTo(undefined);
    proxy.cut();
    expect(await printed).toContain("'categoryId': 9223372036854775807");
    expect(await added()).toEqual(['Rex']);
  });

  test.each([502, 503, 504])('sends a create again after a proxy has answered %i by a page', async (status) => {
    const keys: unknown[] = [];
    const server = createServer(({ headers }, answer) => {
      keys.push(headers['idempotency-key']);
      if (keys.length < 3) answer.writeHead(status).end('<html>');
      else answer.writeHead(201).end('{"id":13,"name":"Rex","categoryId":9223372036854775807}');
    });
    const create = 'print(store.create_pet({"name": "Rex", "categoryId": 9223372036854775807}, "order-1"))';
    expect(await runPython(create, await serveListener(server), 'key')).toContain("'categoryId': 9223372036854775807");
    expect(keys).toEqual(['order-1', 'order-1', 'order-1']);
  });
});
