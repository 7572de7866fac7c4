import type { Deprecation } from '../../deprecations.ts';

/** Fetching one animal by its id is deprecated; lists replace it. */
export const PET_DEPRECATION: Deprecation = {
  coordinate: 'Query.pet',
  since: new Date('2026-11-20T00:00:00Z'),
  sunset: new Date('2030-12-05T00:00:00Z'),
  replacement: { graphql: 'pets(status:)', rest: 'GET /v1/pets with a status filter', restPath: '/v1/pets' },
};
