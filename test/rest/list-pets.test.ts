import { describe, expect, it, test } from 'vitest';
import type { Int64 } from '../../src/lib/exact-json/exact-json.ts';
import { PET_STATUSES } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { expectRefusal, useGateway } from './checked-gateway.ts';

const LIMIT_RULE = /^limit=.* is not allowed: an integer from 1 to 100\.$/;
const STATUS_RULE = /^status=.* is not allowed: one of available, pending, sold\.$/;
const AFTER_RULE = /^after=.* is not allowed: a 64-bit integer\.$/;
const meantSold = (came: string) => new RegExp(`^status=${came}: did you mean sold\\?$`);
const bracketed = (name: string) => new RegExp(`^${name} takes one value, without brackets\\.$`);
const twice = (name: string) => new RegExp(`^${name} was given twice\\.$`);

/** What only an address can say; all other values are those of the corpus, in test/parity. */
const REFUSED: readonly (readonly [query: string, rule: RegExp])[] = [
  ['limit', LIMIT_RULE],
  ['limit=%ff', LIMIT_RULE],
  ['limit=5&limit=', twice('limit')],
  ['limit=&l%69mit=5', twice('limit')],
  [`${'x&'.repeat(1000)}limit=101`, LIMIT_RULE], // after as many parameters as node:querystring reads by default
  ['status=sold+', meantSold('sold ')], // https://url.spec.whatwg.org/#concept-urlencoded-parser
  ['status=sold,pending', STATUS_RULE],
  ['status=sold&status=pending', twice('status')],
  ['after=1;DROP TABLE pets', AFTER_RULE],
  ['status[]=sold', bracketed('status')],
  ['status%5B%5D=sold', bracketed('status')],
  ['limit=1&limit[max]=2', bracketed('limit')],
  ['after[', bracketed('after')],
];

/** 45 animals with the ids 1 to 45; each fourth has no status. */
const ANIMALS = Array.from({ length: 45 }, (_, index) => ({
  name: `Animal ${index + 1}`,
  categoryId: String(index) as Int64, // canonical by String()
  status: PET_STATUSES[index % 4] ?? null,
}));
const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

const ACCEPTED: readonly (readonly [query: string, ids: readonly number[]])[] = [
  ['', idsFrom(1, 20)],
  ['?&&', idsFrom(1, 20)],
  ['?limit=05', idsFrom(1, 5)],
  ['?limit=%35', idsFrom(1, 5)],
  ['?limit=3&status=pending&after=2', [6, 10, 14]],
  ['?after=-9223372036854775808&limit=2', [1, 2]],
  ['?after=9223372036854775807&status=sold', []],
  ['?limit=2&page=3&sort=-id&LIMIT=x&Status=y&limits[]=9&pet[status]=sold', [1, 2]],
  ['?limit=2&__proto__=1&constructor=2', [1, 2]],
];

describeEachEngine('listPets', (engine) => {
  const gateway = useGateway(engine, {}, ({ pets }) => pets.addAll(ANIMALS));

  describe('200', () => {
    it.each(ACCEPTED)('GET /v1/pets%s lists the animals %j', async (query, ids) => {
      const { status, json } = await gateway.get(`/v1/pets${query}`);
      expect(status).toBe(200);
      expect(json.map((pet: { id: number }) => pet.id)).toEqual(ids);
    });

    test('an animal is id, name, categoryId and status; status is left out when there is none', async () => {
      const { text } = await gateway.get('/v1/pets?limit=2&after=2');
      expect(text).toBe(
        '[{"id":3,"name":"Animal 3","categoryId":2,"status":"sold"},{"id":4,"name":"Animal 4","categoryId":3}]',
      );
    });

    test('a page that is not the last links the next one, without a limit that was not asked for', async () => {
      expect((await gateway.get('/v1/pets')).headers.get('link')).toBe(`<${gateway.url}/v1/pets?after=20>; rel="next"`);
    });

    test('nothing to list is an empty array', async () => {
      expect((await gateway.get('/v1/pets?after=45')).text).toBe('[]');
    });

    test('many equal and different lists at the same time are each right', async () => {
      const queries = Array.from({ length: 60 }, (_, index) => [1 + (index % 7), index % 5] as const);
      const lists = queries.map(async ([limit, after]) => {
        const { json } = await gateway.get(`/v1/pets?limit=${limit}&after=${after}`);
        expect(json.map((pet: { id: number }) => pet.id)).toEqual(idsFrom(after + 1, limit));
      });
      await Promise.all(lists);
    });
  });

  it.each(REFUSED)('400: %.60s is refused', async (query, rule) => {
    expectRefusal(await gateway.get(`/v1/pets?${query}`), 400, rule);
  });
});
