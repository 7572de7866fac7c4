import type { GraphQLSchema } from 'graphql';
import { ApiError } from '../../src/gateway/errors.ts';
import { countedAs, createBuilder, pageArguments } from '../../src/gateway/schema/builder.ts';
import type { Context } from '../../src/gateway/schema/context.ts';
import { contextOf as foundIn, type Person, type Rows, type Shop, wrong } from '../lib/graphql-plan/shop-schema.ts';

/*
 * The shops of test/lib/graphql-plan as a service has them: with pages that its cost counts, and refusals of its own.
 */

type Found = ReturnType<typeof foundIn>;
const found = (context: Context): Found => wrong(context); // made by contextOf

/** A context for resolvers that find rows in it. */
export const contextOf = (rows: Rows): Context =>
  wrong({ ...foundIn(rows), caller: { keyId: 'test', ownerId: 'test', mayWrite: true } });

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
