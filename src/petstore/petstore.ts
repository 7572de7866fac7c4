import { defineService } from '../gateway/service.ts';
import { CHANGES } from './changes.ts';
import { PET_SELECTION } from './pets/pet.ts';
import { PET_RESOURCE } from './pets/pet-operations.ts';

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
