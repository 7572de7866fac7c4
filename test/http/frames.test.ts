import { afterAll, expect, test } from 'vitest';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

const { stackTraceLimit } = Error;
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

test('between the parser and the resolver of listPets are eight functions of ours', async () => {
  Error.stackTraceLimit = 100;
  const { stores, request } = await startGateway(SQLITE);
  const store = stores(PETS);
  const { list } = store;
  let stack = '';
  Object.assign(store, {
    list(...parameters: Parameters<typeof list>) {
      stack = new Error().stack ?? '';
      return list(...parameters);
    },
  });
  await request('/v1/pets');
  await request('/v1/pets'); // the key is known now: nothing is waited for
  const [resolver = '', ...frames] = stack.slice(stack.search(/.*pet-types\.ts/)).split('\n');
  expect(resolver).toContain('pet-types.ts');
  expect(frames.at(-1)).toContain('parserOnHeadersComplete');
  const ours = frames.flatMap((frame) => /\/src\/(.*?\.ts)/.exec(frame)?.[1] ?? []);
  expect(ours).toEqual([
    'gateway/rest/rest-api.ts',
    'gateway/http/serve.ts',
    'gateway/http/serve.ts',
    'gateway/http/app.ts',
    'gateway/http/app.ts',
    'lib/ordered-http/request-order.ts',
    'lib/ordered-http/request-order.ts',
    'lib/ordered-http/request-order.ts',
  ]);
});
