import { PETSTORE } from '../../src/petstore/petstore.ts';
import { createRestApi } from '../../src/rest/rest-api.ts';
import { createSchema } from '../../src/schema/schema.ts';

/** The schema of the pet store, as a gateway makes it. */
export const SCHEMA = createSchema(PETSTORE);

/** The REST API of the pet store, without a database below it. */
const REST = createRestApi(PETSTORE, SCHEMA, () => {
  throw new Error('there is no database');
});

/** The table of its operations. */
export const OPERATIONS = REST.operations;

/** Its OpenAPI document. */
export const { openApiDocument } = REST;
