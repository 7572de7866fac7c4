import { Client, fetchExchange } from '@urql/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';

const ADD = 'mutation ($input: NewPetInput!) { addPet(input: $input) { __typename id name categoryId status } }';
const LIST = 'query ($after: ID) { pets(after: $after) { id name } }';

describe('a client library, @urql/core', () => {
  const gateway = gatewayOf(SQLITE);
  let client: Client;
  beforeAll(async () => {
    client = connectTo(gateway.key);
  });
  const connectTo = (key: string, preferGetMethod: 'force' | false = false) =>
    new Client({
      url: `${gateway.url}/graphql`,
      exchanges: [fetchExchange],
      fetchOptions: { headers: { authorization: `Bearer ${key}` } },
      preferGetMethod,
    });

  test('adds an animal and lists it, by POST and by GET', async () => {
    const input = { name: 'urql', categoryId: '9007199254740993', status: 'SOLD' };
    const added = await client.mutation(ADD, { input });
    expect(added.data?.addPet).toEqual({ __typename: 'Pet', id: expect.stringMatching(/^\d+$/), ...input });
    const expected = [{ id: added.data?.addPet.id, name: 'urql' }];
    for (const reader of [client, connectTo(gateway.key, 'force')]) {
      const { data, operation } = await reader.query(LIST, { after: '0' });
      expect([operation.context.preferGetMethod, data?.pets]).toEqual([reader === client ? false : 'force', expected]);
    }
  });

  test('hears of a wrong variable and of a wrong key', async () => {
    const wrong = await client.mutation(ADD, { input: { name: 'x', categoryId: 'x' } });
    expect(wrong.error?.graphQLErrors[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT' });
    const stranger = await connectTo('wrong').query(LIST, {});
    expect(stranger.error?.response.status).toBe(401);
    expect(stranger.error?.graphQLErrors[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED' });
  });
});
