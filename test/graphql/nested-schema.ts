import type { GraphQLSchema } from 'graphql';
import { ApiError } from '../../src/gateway/errors.ts';
import { countedAs, createBuilder, pageArguments } from '../../src/gateway/schema/builder.ts';
import type { Context } from '../../src/gateway/schema/context.ts';

/*
 * A schema with objects within objects: shops and the people in them. Some of the rows are not as the schema has them, and
 * some resolvers throw.
 */

export interface Shop {
  readonly id: number;
  readonly name: string | null;
  readonly place: { readonly street: string; readonly number: number } | null;
  readonly mailbox: { readonly street: string; readonly number: number };
  readonly ownerId: number;
  readonly staff: readonly Person[] | null;
  readonly guests: readonly (Person | null)[];
}

export interface Person {
  readonly id: number;
  readonly name: string;
  readonly shopId: number;
}

/** What rows are wrong with: the types say otherwise. */
export const wrong = <Value>(value: unknown): Value => value as Value;

/** The rows of a database that is one turn away. `loads` are the ids that were asked for in each turn. */
export interface Rows {
  readonly shops: readonly Shop[];
  readonly people: readonly Person[];
  readonly loads: number[][];
}

/** A context for resolvers that find rows in it. */
export function contextOf(rows: Rows): Context {
  let asked: { id: number; resolve: (person: Person | null) => void }[] = [];
  const load = (id: number) =>
    new Promise<Person | null>((resolve) => {
      if (asked.length === 0) setImmediate(answer);
      asked.push({ id, resolve });
    });
  const answer = () => {
    const batch = asked;
    asked = [];
    rows.loads.push(batch.map(({ id }) => id));
    for (const { id, resolve } of batch) resolve(rows.people.find((person) => person.id === id) ?? null);
  };
  return wrong({
    ...rows,
    load,
    caller: { keyId: 'test', ownerId: 'test', mayWrite: true },
  });
}

/** What the resolvers of this schema find in the context. */
type Found = Rows & { load(id: number): Promise<Person | null> };
const found = (context: Context): Found => wrong(context); // made by contextOf

const refuse = (what: string) => {
  throw new ApiError('bad_request', `no ${what}`);
};

/** The schema. */
export function createNestedSchema(): GraphQLSchema {
  const builder = createBuilder();
  const place = builder.objectRef<NonNullable<Shop['place']>>('Place').implement({
    fields: (t) => ({
      street: t.exposeString('street', { nullable: true }),
      number: t.exposeInt('number'),
    }),
  });
  const person = builder.objectRef<Person>('Person');
  const shop = builder.objectRef<Shop>('Shop');
  person.implement({
    extensions: countedAs('people'),
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      greeting: t.string({
        args: { word: t.arg.string({ required: true, defaultValue: 'Hello' }) },
        resolve: ({ name }, { word }) => (word === 'no' ? refuse('greeting') : `${word} ${name}`),
      }),
      shop: t.field({
        type: shop,
        nullable: true,
        resolve: ({ shopId }, _args, context) => found(context).shops.find(({ id }) => id === shopId),
      }),
      friends: t.field({
        type: [person],
        nullable: { list: true, items: true },
        args: pageArguments(builder, 'friends'),
        resolve: ({ id }, { limit }, context) =>
          id % 3 === 0 ? null : Array.from({ length: limit }, (_, index) => found(context).load(id + index + 1)),
      }),
    }),
  });
  shop.implement({
    extensions: countedAs('shops'),
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name', { nullable: true }),
      place: t.expose('place', { type: place, nullable: true }),
      mailbox: t.expose('mailbox', { type: place }),
      staff: t.expose('staff', { type: [person], nullable: true }),
      guests: t.expose('guests', { type: [person], nullable: { list: false, items: true } }),
      owner: t.field({
        type: person,
        nullable: true,
        resolve: ({ ownerId }, _args, context) => found(context).load(ownerId),
      }),
      boss: t.field({
        type: person,
        resolve: async ({ ownerId }, _args, context) => (await found(context).load(ownerId)) ?? refuse('boss'),
      }),
      size: t.int({ resolve: ({ id }) => (id === 4 ? wrong<number>('large') : id * 10) }),
      rating: t.int({ nullable: true, resolve: ({ id }) => (id === 2 ? refuse('rating') : id) }),
      motto: t.string({
        nullable: true,
        async resolve({ id }, _args, context) {
          await found(context).load(0);
          return id % 2 === 0 ? refuse('motto') : null;
        },
      }),
      people: t.field({
        type: [person],
        args: pageArguments(builder, 'people'),
        resolve: ({ id }, { limit }, context) =>
          found(context)
            .people.filter(({ shopId }) => shopId === id)
            .slice(0, limit),
      }),
    }),
  });
  const page = builder.objectRef<{ readonly edges: readonly { readonly node: Shop }[] }>('ShopPage').implement({
    fields: (t) => ({
      edges: t.expose('edges', {
        type: [
          builder
            .objectRef<{ readonly node: Shop }>('ShopEdge')
            .implement({ fields: (edge) => ({ node: edge.expose('node', { type: shop }) }) }),
        ],
      }),
    }),
  });
  builder.queryType({
    fields: (t) => ({
      shops: t.field({
        type: [shop],
        args: pageArguments(builder, 'shops'),
        resolve: (_root, { limit }, context) => found(context).shops.slice(0, limit),
      }),
      shop: t.field({
        type: shop,
        nullable: true,
        args: { id: t.arg.int({ required: true }) },
        resolve: (_root, { id }, context) => found(context).shops.find((one) => one.id === id),
      }),
      person: t.field({
        type: person,
        args: { id: t.arg.int({ required: true }) },
        resolve: async (_root, { id }, context) => (await found(context).load(id)) ?? refuse('person'),
      }),
      count: t.int({ nullable: true, resolve: (_root, _args, context) => found(context).shops.length }),
      shopPage: t.field({
        type: page,
        args: pageArguments(builder, 'shops'),
        resolve: (_root, { limit }, context) => ({
          edges: found(context)
            .shops.slice(0, limit)
            .map((node) => ({ node })),
        }),
      }),
    }),
  });
  return builder.toSchema({ sortSchema: false });
}
