import { expect, it, test } from 'vitest';
import { PET_STATUSES } from '../../src/petstore/pets/pet.ts';
import { describeEachEngine } from '../support/engines.ts';
import { type CheckedGateway, useGateway } from './checked-gateway.ts';

// Around 2^53, where a double begins to round, and at the end of int64.
const IDS = [
  ...'1 7 9007199254740990 9007199254740991 9007199254740992 9007199254740993 9007199254740994'.split(' '),
  ...'9223372036854775805 9223372036854775806 9223372036854775807'.split(' '),
];
const statusAt = (index: number) => PET_STATUSES[index % 2] ?? null;

async function addAnimals({ database }: CheckedGateway): Promise<void> {
  const { knex } = database;
  // The last one first: it is the id that orders the list.
  for (const [index, id] of [...IDS.entries()].reverse()) {
    await knex('pets').insert({ id: knex.raw(id), name: id, category_id: knex.raw(id), status: statusAt(index) });
  }
}

/** Follows `rel="next"` from `path` to the end; gives the ids of each page, with all their digits. */
async function followPages(gateway: CheckedGateway, path: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    expect(next).toMatch(/^\/v1\//);
    const { status, text, headers } = await gateway.get(next);
    expect(status).toBe(200);
    pages.push([...text.matchAll(/"id":(-?\d+)/g)].map(([, id]) => id ?? ''));
    expect(pages.length).toBeLessThanOrEqual(IDS.length);
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]?.replace(gateway.url, '');
    if (next === undefined) expect(headers.has('link')).toBe(false);
  }
  return pages;
}

function chunks(ids: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, index) =>
    ids.slice(index * size, (index + 1) * size),
  );
}

describeEachEngine('listPets › pages', (engine) => {
  const gateway = useGateway(engine, {}, addAnimals);

  it.each([1, 2, 3, 5, 9, 10, 11, 100])(
    'limit=%i: the links lead through the whole list, each animal once',
    async (limit) => {
      expect(await followPages(gateway, `/v1/pets?limit=${limit}`)).toEqual(chunks(IDS, limit));
    },
  );

  it.each(['available', 'pending'])('status=%s: the links keep the filter', async (status) => {
    const ids = IDS.filter((_id, index) => statusAt(index) === status);
    expect(await followPages(gateway, `/v1/pets?limit=2&status=${status}`)).toEqual(chunks(ids, 2));
  });

  test('a link holds limit, status and after, and no unknown parameter', async () => {
    const { headers } = await gateway.get('/v1/pets?unknown=1&status=available&limit=2');
    expect(headers.get('link')).toBe(
      `<${gateway.url}/v1/pets?limit=2&status=available&after=9007199254740990>; rel="next"`,
    );
  });
});
