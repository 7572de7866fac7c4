import { createRestApi } from '../../src/gateway/rest/rest-api.ts';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';

/** The schema of the pet store, as a gateway makes it. */
export const SCHEMA = createSchema(PETSTORE);

/** The REST API of the pet store, without a database below it. */
const REST = createRestApi(PETSTORE, SCHEMA, () => {
  throw new Error('there is no database');
});

/** The table of its operations. */
export const OPERATIONS = REST.operations;

/** What a gateway says in `Allow` of methods that it knows nowhere: those of all routes. */
export const ALLOWED = [...new Set(['GET', 'HEAD', 'POST', ...OPERATIONS.map(({ method }) => method)])]
  .sort()
  .join(', ');

/** Its OpenAPI document. */
export const { openApiDocument } = REST;
