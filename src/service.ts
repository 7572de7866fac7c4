import type { Deprecation } from './deprecations.ts';
import type { RestService, Row } from './rest/operation.ts';
import type { Builder } from './schema/builder.ts';
import type { New, Table } from './store/table.ts';

/** One resource of a service: what it is about, in one folder. */
export interface Resource<T extends Table = Table> {
  readonly table: T;
  /** What OpenAPI says of the group of its operations. */
  readonly description: string;
  /** Defines all that GraphQL has of it. */
  readonly defineTypes: (builder: Builder) => void;
  /** Its REST operations. */
  readonly rows: readonly Row[];
  /** What of it is deprecated. */
  readonly deprecations?: readonly Deprecation[];
  /** The explorer's tabs: operations that a newcomer meets, in this order. */
  readonly tabs?: readonly Tab[];
  /** Sample number `index` (from 0) of an endless series that is always the same. */
  readonly sample?: (index: number) => New<T>;
}

/** A tab of the explorer, as it is when somebody opens the page for the first time. */
export interface Tab {
  readonly query: string;
  /** JSON. GraphiQL does not show those of the first tab. */
  readonly variables?: string;
}

/** What a service is about; the machine serves any. */
export interface Service extends RestService {
  /** What pages call it. */
  readonly name: string;
  /** What it has, in the words of sentences: `books`, and `the books of a library`. */
  readonly things: string;
  readonly keeps: string;
  /** What a newcomer is told to try: a path below the base path, and a GraphQL query on one line without a double quote. */
  readonly firstCalls: { readonly rest: string; readonly graphql: string };
  readonly resources: readonly Resource[];
}

/** A resource, typed by its table. */
export function defineResource<T extends Table>(resource: Resource<T>): Resource {
  return resource as unknown as Resource; // whoever takes a sample puts it into the table of the same resource
}

/** A service, with what its resources have together. */
export function defineService(parts: Omit<Service, 'deprecations'>): Service {
  return { ...parts, deprecations: parts.resources.flatMap(({ deprecations = [] }) => deprecations) };
}
