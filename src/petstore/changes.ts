import type { Service } from '../gateway/service.ts';

/** What changed for callers, in short: CHANGELOG.md has the details. */
export const CHANGES: NonNullable<Service['changes']> = [
  {
    version: 'Unreleased',
    changes: [
      '`petsConnection` gives pages with cursors, for Relay and other frontends.',
      'In GraphQL, an error that passes has `extensions.retryAfter`, in seconds.',
      'Read-only keys: 403 `forbidden` for what adds animals. Keys that expire or were replaced say so.',
      'A key may have a rate limit: 429, with `RateLimit-Policy` and `RateLimit`.',
      '`IDEMPOTENCY_CONFLICT` and `IDEMPOTENCY_MISMATCH` were `BAD_USER_INPUT` before.',
      'Further limits of GraphQL: bytes of a document and of an answer, fields, values of animals.',
      '`Link` of a list is an absolute address.',
      '`GET /schema.graphql` gives the schema without a key.',
    ],
  },
  {
    version: '1.0.0',
    changes: [
      'REST `listPets`, `createPet` and the deprecated `getPet`; GraphQL `pets`, `addPet` and the deprecated `pet`.',
      '`Idempotency-Key` in both APIs.',
    ],
  },
];
