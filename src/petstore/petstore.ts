import { defineService, type Service } from '../gateway/service.ts';
import { PET_SELECTION } from './pets/pet.ts';
import { PET_RESOURCE } from './pets/pet-operations.ts';

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

/** The service: the animals of a pet store. */
export const PETSTORE = defineService({
  name: 'Petstore Gateway',
  plural: 'animals',
  subject: 'the animals of a pet store',
  api: {
    title: 'Petstore API',
    version: '1.0.0',
    description:
      'List, add and fetch the animals of a pet store. Every operation requires an API key as a bearer token. Ids are 64-bit integers: read them with a parser that keeps all digits.',
  },
  basePath: '/v1',
  firstCalls: {
    rest: '/pets?status=available&limit=3',
    graphql: `{ pets(status: AVAILABLE, limit: 3) { ${PET_SELECTION.join(' ')} } }`,
  },
  resources: [PET_RESOURCE],
  changes: CHANGES,
});
