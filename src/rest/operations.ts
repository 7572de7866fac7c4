import { compileRow, type Operation, type Resource } from './operation.ts';
import { PETS } from './pets-operations.ts';

/** The version segment that every path begins with. */
export const BASE_PATH = '/v1';

/** Every resource, in the order of the OpenAPI document. */
export const RESOURCES: readonly Resource[] = [PETS];

/** THE TABLE. Routes, the OpenAPI document and the reference page are made from it. */
export const OPERATIONS: readonly Operation[] = RESOURCES.flatMap(({ tag, rows }) =>
  rows.map((row) => compileRow(row, tag)),
);
