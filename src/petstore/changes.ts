import type { Service } from '../gateway/service.ts';

/** What changed for callers, in short: CHANGELOG.md has the details. */
export const CHANGES: NonNullable<Service['changes']> = [
  {
    version: '1.0.0',
    changes: [
      'REST `listPets`, `createPet` and the deprecated `getPet`; GraphQL `pets`, `petsConnection`, `addPet` and the deprecated `pet`.',
      'Further pages by `Link` and `after`; `petsConnection` has cursors, for Relay and other frontends.',
      '`Idempotency-Key` in both APIs, as it stands or as a quoted string: retries that cannot double.',
      'Read-only keys, keys that expire, and a rate limit of each key: 429, with `RateLimit-Policy` and `RateLimit`.',
      'Errors that pass say when to try again: `Retry-After`, in GraphQL `extensions.retryAfter`.',
      '`GET /v1/openapi.json` and `GET /schema.graphql` describe both, without a key.',
    ],
  },
];
