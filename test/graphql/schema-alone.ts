import { createDocuments, createValidator } from '../../src/gateway/graphql/documents.ts';
import { GRAPHQL_FORMAT } from '../../src/gateway/schema/schema.ts';
import { createPlanner } from '../../src/lib/graphql-plan/graphql-plan.ts';
import { SCHEMA as schema } from '../support/petstore-api.ts';

export { schema };

/** Validates documents for it. */
export const validateDocument = createValidator(schema);

/** Prepares documents for it, with an empty memory. */
export function createPetDocuments(): ReturnType<typeof createDocuments> {
  return createDocuments({ validate: validateDocument, plan: createPlanner(schema, GRAPHQL_FORMAT), deprecations: [] });
}
