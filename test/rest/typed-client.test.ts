import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { SQLITE, temporaryFolder } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

/** What a user writes: create, list, get, with every name and value checked against the generated types. */
const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './petstore.d.ts';

const [baseUrl = '', key = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });

const created = await client.POST('/pets', { body: { name: 'Rex', categoryId: 3, status: 'sold' } });
if (created.error) throw new Error(created.error.message);
const id: number = created.data.id;
const listed = await client.GET('/pets', { params: { query: { limit: 5, status: 'sold' } } });
const got = await client.GET('/pets/{petId}', { params: { path: { petId: id } } });
const refused = await client.GET('/pets', { params: { query: { limit: 500 } } });
console.log(JSON.stringify([created.data, listed.data, got.data, refused.error]));

export async function whatTheTypesRefuse() {
  // @ts-expect-error: categoryId is required
  await client.POST('/pets', { body: { name: 'Rex' } });
  // @ts-expect-error: no such status
  await client.POST('/pets', { body: { name: 'Rex', categoryId: 3, status: 'lost' } });
  // @ts-expect-error: categoryId is a number
  await client.POST('/pets', { body: { name: 'Rex', categoryId: '3' } });
  // @ts-expect-error: no such path
  await client.GET('/cats', {});
  // @ts-expect-error: status may be absent
  const status: string = created.data?.status;
  return status;
}
`;

const MODULES = join(import.meta.dirname, '../../node_modules');
const STRICT = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext'];
const TYPES = ['--allowImportingTsExtensions', '--types', 'node', '--typeRoots', join(MODULES, '@types')];

/** Runs a program of Node; rejects with what it printed when it fails. */
async function runNode(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
  return stdout;
}

test('a typed client that is generated from openapi.json creates, lists and gets an animal', async () => {
  const { url, key } = await startGateway(SQLITE);
  const folder = temporaryFolder();
  symlinkSync(MODULES, join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'petstore.d.ts'), astToString(await openapiTS(new URL(`${url}/v1/openapi.json`))));
  const file = join(folder, 'client.ts');
  writeFileSync(file, CLIENT);
  expect(await runNode(join(MODULES, 'typescript/bin/tsc'), ...STRICT, ...TYPES, file)).toBe('');
  const printed = await runNode(file, `${url}/v1`, key);
  const pet = { id: 1, name: 'Rex', categoryId: 3, status: 'sold' };
  const error = { code: 'bad_request', message: expect.stringContaining('limit'), status: 400 };
  expect(JSON.parse(printed)).toEqual([pet, [pet], pet, error]);
}, 180_000); // TypeScript takes its time on a busy machine
