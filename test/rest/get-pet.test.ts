import { describe, expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { type CheckedGateway, expectRefusal, useGateway } from './checked-gateway.ts';

const LARGE_IDS = ['9007199254740993', '9223372036854775806', '9223372036854775807'];

/** The first is what a double makes of an id that is there. All others that need no percent-encoding are in test/parity. */
const NO_ID = "9007199254740992 1e0 0x1 1_0 %201 1%20 1%00 1%0A %D9%A1 1;a 1,2 %ff % %zz 1'%20OR%20'1'='1".split(' ');

async function addAnimals({ database, createPet }: CheckedGateway): Promise<void> {
  await createPet({ name: 'Rex', categoryId: 1, status: 'sold' });
  for (const id of LARGE_IDS) {
    await database.knex('pets').insert({ id: database.knex.raw(id), name: 'large', category_id: 0, status: null });
  }
}

describeEachEngine('getPet', (engine) => {
  const gateway = useGateway(engine, {}, addAnimals);

  describe('200', () => {
    test('gives the animal', async () => {
      const { status, text } = await gateway.get('/v1/pets/1');
      expect(status).toBe(200);
      expect(text).toBe('{"id":1,"name":"Rex","categoryId":1,"status":"sold"}');
    });

    it.each(LARGE_IDS)('the id %s keeps its digits', async (id) => {
      expect((await gateway.get(`/v1/pets/${id}`)).text).toBe(`{"id":${id},"name":"large","categoryId":0}`);
    });

    test('a percent-encoded digit is the digit (RFC 3986 §6.2.2.2)', async () => {
      expect((await gateway.get('/v1/pets/%31')).json.id).toBe(1);
    });

    test('a query is ignored', async () => {
      expect((await gateway.get('/v1/pets/1?limit=0&status=x')).json.id).toBe(1);
    });
  });

  it.each(NO_ID)('404: %.30s is no animal', async (id) => {
    expectRefusal(await gateway.get(`/v1/pets/${id}`), 404, 'No animal has this id.');
  });

  describe('deprecation', () => {
    it.each([
      ['GET', '/v1/pets/1', true, 200],
      ['HEAD', '/v1/pets/1', true, 200],
      ['GET', '/v1/pets/99', true, 404],
      ['GET', '/v1/pets/abc', true, 404],
      ['GET', '/v1/pets/1', false, 401],
      ['HEAD', '/v1/pets/99', false, 401],
    ])(
      '%s %s (with a key: %s) answers %i and says until when, and what instead',
      async (method, path, known, status) => {
        const answer = await gateway.call(method, path, known ? {} : { key: null });
        expect(answer.status).toBe(status);
        expect(answer.headers.get('deprecation')).toBe('@1795132800');
        expect(answer.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
        expect(answer.headers.get('link')).toMatch(/<\/v1\/pets>; rel="successor-version"/);
        expect(answer.headers.get('link')).toMatch(/<[^>]+>; rel="deprecation"/);
      },
    );

    // Those of what succeeds are held in described-headers.
    it.each(['GET', 'POST'])('a refused %s of /v1/pets has none of it', async (method) => {
      const { status, headers } = await gateway.call(method, '/v1/pets?limit=0');
      expect([status < 400, headers.has('deprecation'), headers.has('sunset')]).toEqual([false, false, false]);
    });
  });
});
