import { createDocuments } from '../../src/gateway/graphql/documents.ts';
import { SCHEMA as schema } from '../support/petstore-api.ts';

export { schema };

/** Prepares documents for it, with an empty memory. */
export function createPetDocuments(): ReturnType<typeof createDocuments> {
  return createDocuments(schema, []);
}
