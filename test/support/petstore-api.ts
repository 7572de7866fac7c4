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

/** Its OpenAPI document. */
export const { openApiDocument } = REST;
