import type { Deprecation } from './deprecations.ts';
import type { OperationRow, RestService } from './rest/operation.ts';
import type { Builder } from './schema/builder.ts';
import type { NewRow, Table } from './store/table.ts';

/** One resource of a service, such as books; one folder describes it. */
export interface Resource<T extends Table = Table> {
  readonly table: T;
  /** The description of its OpenAPI tag. */
  readonly description: string;
  readonly defineTypes: (builder: Builder) => void;
  readonly operationRows: readonly OperationRow[];
  readonly deprecations?: readonly Deprecation[];
  /** Tabs that GraphiQL opens with, in this order. */
  readonly tabs?: readonly Tab[];
  /** The sample number `index`, from 0. The same index always gives the same sample. */
  readonly sample?: (index: number) => NewRow<T>;
}

/** A tab of GraphiQL with an example operation. */
export interface Tab {
  readonly query: string;
  /** A JSON text. The first tab has none: GraphiQL does not show its variables. */
  readonly variables?: string;
}

/** The description of a service. Both APIs and the pages are made from it. */
export interface Service extends RestService {
  /** Its name on the pages. */
  readonly name: string;
  /** Phrases for sentences: `plural` is the noun for its objects (`books`), `subject` a longer one (`the books of a library`). */
  readonly plural: string;
  readonly subject: string;
  /** Example calls for a newcomer: a path below the base path, and a query that fits into quotes: one line, no double quote. */
  readonly firstCalls: { readonly rest: string; readonly graphql: string };
  readonly resources: readonly Resource[];
  /** What changed for callers, the newest version first. */
  readonly changes?: readonly { readonly version: string; readonly changes: readonly string[] }[];
}

/** Types a resource by its table: its samples must be rows of the table. */
export function defineResource<T extends Table>(resource: Resource<T>): Resource {
  return resource as unknown as Resource; // samples are only put into the table of the same resource
}

/** Makes a service of its parts, with the deprecations of all its resources. */
export function defineService(parts: Omit<Service, 'deprecations'>): Service {
  return { ...parts, deprecations: parts.resources.flatMap(({ deprecations = [] }) => deprecations) };
}
