import type { ObjectRef } from '@pothos/core';
import * as z from 'zod/mini';
import { type Int64, type Integer64, parseInt64 } from '../../lib/exact-json/exact-json.ts';
import type { Page } from '../store/keyset-list.ts';
import { type Builder, type BuilderTypes, countedAs, oncePerSchema, pageSizeArgument } from './builder.ts';

/*
 * Lists as connections, paged forward: https://relay.dev/graphql/connections.htm. Cursors are opaque to clients, so their
 * content may change.
 */

function cursorOf(id: Integer64 | bigint): string {
  return Buffer.from(`id:${id}`).toString('base64url');
}

/** The longest, of the least id. */
const CURSOR_LENGTH_MAX = cursorOf(-(2n ** 63n)).length;

/** The id in a cursor; undefined for a text that is no cursor of ours. */
function parseCursor(cursor: string): Int64 | undefined {
  if (cursor.length > CURSOR_LENGTH_MAX) return undefined; // else every field that has it decodes all of it
  const [, digits = ''] = /^id:(.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const id = parseInt64(digits);
  return id !== undefined && cursorOf(id) === cursor ? id : undefined;
}

const cursorRule = z.custom<string, string>(
  (text) => text === '' || (typeof text === 'string' && parseCursor(text) !== undefined),
  'must be a cursor of an earlier page, as it was given',
);

/** The arguments `first` and `after` of a connection by ascending id. `plural` is the noun for its objects in descriptions. */
export const connectionArguments = (builder: Builder, plural: string) =>
  builder.args((t) => ({
    first: pageSizeArgument(t, plural),
    after: t
      .string({
        description: `Only ${plural} after this cursor: the \`endCursor\` of a page asks for the next one, the empty text for the first.`,
      })
      .validate(cursorRule),
  }));

/** Converts the arguments of a connection to a page query of the store. Filters are kept. */
export function toPageQuery<Given extends { first: number; after?: string | null | undefined }>(given: Given) {
  const { first, after, ...filters } = given;
  return { ...filters, limit: first, after: after ? parseCursor(after) : undefined };
}

/** Makes a connection of a page; `after` is the argument that the page was read with. */
export function toConnection<Row extends { readonly id: Integer64 }>(
  page: Page<Row>,
  after: string | null | undefined,
) {
  const [start, end] = [page[0], page.at(-1)];
  return {
    edges: page.map((node) => ({ node })),
    pageInfo: {
      hasNextPage: page.hasMore,
      hasPreviousPage: Boolean(after), // the row of a cursor is on an earlier page
      startCursor: start ? cursorOf(start.id) : null,
      endCursor: end ? cursorOf(end.id) : null,
    },
  };
}

type Connection<Row extends { readonly id: Integer64 }> = ReturnType<typeof toConnection<Row>>;

const pageInfoType = oncePerSchema((builder) =>
  builder.objectRef<Connection<{ id: Integer64 }>['pageInfo']>('PageInfo').implement({
    description: 'Where a page of a connection stands.',
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether more follow after `endCursor`.' }),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
        description: 'Whether the page was asked for with `after`, the cursor of an earlier one.',
      }),
      startCursor: t.exposeString('startCursor', {
        nullable: true,
        description: 'The cursor of the first one; null on an empty page.',
      }),
      endCursor: t.exposeString('endCursor', {
        nullable: true,
        description: 'The cursor of the last one, for `after` of the next page; null on an empty page.',
      }),
    }),
  }),
);

/** Defines the types `NAMEConnection` and `NAMEEdge` for a node type. `plural` is the noun for its objects in descriptions. */
export function connectionType<Row extends { readonly id: Integer64 }>(
  builder: Builder,
  name: string,
  node: ObjectRef<BuilderTypes, Row>,
  plural: string,
) {
  const edge = builder.objectRef<Connection<Row>['edges'][number]>(`${name}Edge`).implement({
    description: `One of the ${plural} of a page.`,
    extensions: countedAs(plural),
    fields: (t) => ({
      cursor: t.string({
        description: 'Its position in the list, opaque to clients.',
        resolve: ({ node: { id } }) => cursorOf(id), // most clients read the cursors of `pageInfo` only
      }),
      node: t.expose('node', { type: node, description: 'The object at this position.' }),
    }),
  });
  return builder.objectRef<Connection<Row>>(`${name}Connection`).implement({
    description: `A page of ${plural}, as the GraphQL Cursor Connections Specification says.`,
    fields: (t) => ({
      edges: t.expose('edges', { type: [edge], description: `The ${plural} of the page, each with its cursor.` }),
      pageInfo: t.expose('pageInfo', { type: pageInfoType(builder), description: 'Where the page stands.' }),
    }),
  });
}
