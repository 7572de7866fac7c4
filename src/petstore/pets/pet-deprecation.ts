import type { Deprecation } from '../../gateway/deprecations.ts';

/** The deprecation of fetching one animal by its id. Lists replace it. */
export const PET_DEPRECATION: Deprecation = {
  coordinate: 'Query.pet',
  since: new Date('2026-11-20T00:00:00Z'),
  sunset: new Date('2030-12-05T00:00:00Z'),
  replacement: { graphql: 'pets(status:)', rest: 'GET /v1/pets with a status filter', restPath: '/v1/pets' },
  steps: [
    {
      purpose: 'The animals that can be had',
      rest: 'GET /v1/pets?status=available',
      graphql: '{ pets(status: AVAILABLE) { id name } }',
    },
    {
      purpose: 'One animal, such as 42: the list that begins right before it and holds one',
      rest: 'GET /v1/pets?after=41&limit=1',
      graphql: '{ pets(after: "41", limit: 1) { id name } }',
      note: 'When the answer is empty, or has another id, there is no animal 42. Compute `id - 1` with 64-bit integers.',
    },
  ],
};
