import SchemaBuilder from '@pothos/core';
import type { GraphQLSchema } from 'graphql';

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

/** The context of the resolvers. `load` finds a person in the next turn of the event loop. */
interface Found extends Rows {
  load(id: number): Promise<Person | null>;
}

/** A context for resolvers that find rows in it. */
export function contextOf(rows: Rows): Found {
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
  return { ...rows, load };
}

const refuse = (what: string) => {
  throw new Error(`no ${what}`);
};

/** The schema. */
export function createShopSchema(): GraphQLSchema {
  const builder = new SchemaBuilder<{ Context: Found; DefaultFieldNullability: false }>({
    defaultFieldNullability: false,
  });
  const limit = builder.args((t) => ({ limit: t.int({ required: true, defaultValue: 20 }) }));
  const place = builder.objectRef<NonNullable<Shop['place']>>('Place').implement({
    fields: (t) => ({
      street: t.exposeString('street', { nullable: true }),
      number: t.exposeInt('number'),
    }),
  });
  const person = builder.objectRef<Person>('Person');
  const shop = builder.objectRef<Shop>('Shop');
  person.implement({
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
        resolve: ({ shopId }, _args, context) => context.shops.find(({ id }) => id === shopId),
      }),
      friends: t.field({
        type: [person],
        nullable: { list: true, items: true },
        args: limit,
        resolve: ({ id }, { limit }, context) =>
          id % 3 === 0 ? null : Array.from({ length: limit }, (_, index) => context.load(id + index + 1)),
      }),
    }),
  });
  shop.implement({
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
        resolve: ({ ownerId }, _args, context) => context.load(ownerId),
      }),
      boss: t.field({
        type: person,
        resolve: async ({ ownerId }, _args, context) => (await context.load(ownerId)) ?? refuse('boss'),
      }),
      size: t.int({ resolve: ({ id }) => (id === 4 ? wrong<number>('large') : id * 10) }),
      rating: t.int({ nullable: true, resolve: ({ id }) => (id === 2 ? refuse('rating') : id) }),
      motto: t.string({
        nullable: true,
        async resolve({ id }, _args, context) {
          await context.load(0);
          return id % 2 === 0 ? refuse('motto') : null;
        },
      }),
      people: t.field({
        type: [person],
        args: limit,
        resolve: ({ id }, { limit }, context) => context.people.filter(({ shopId }) => shopId === id).slice(0, limit),
      }),
    }),
  });
  builder.queryType({
    fields: (t) => ({
      shops: t.field({
        type: [shop],
        args: limit,
        resolve(_root, { limit }, context) {
          return context.shops.slice(0, limit);
        },
      }),
      shop: t.field({
        type: shop,
        nullable: true,
        args: { id: t.arg.int({ required: true }) },
        resolve: (_root, { id }, context) => context.shops.find((one) => one.id === id),
      }),
      person: t.field({
        type: person,
        args: { id: t.arg.int({ required: true }) },
        resolve: async (_root, { id }, context) => (await context.load(id)) ?? refuse('person'),
      }),
      count: t.int({ nullable: true, resolve: (_root, _args, context) => context.shops.length }),
    }),
  });
  builder.mutationType({
    fields: (t) => ({
      enter: t.field({
        type: person,
        nullable: true,
        args: { id: t.arg.int({ required: true }) },
        async resolve(_root, { id }, context) {
          const entered = await context.load(id);
          return entered ?? refuse('entry');
        },
      }),
      enterOrLose: t.field({
        type: person,
        args: { id: t.arg.int({ required: true }) },
        resolve: (_root, { id }, context) => context.load(id).then(wrong<Person>),
      }),
    }),
  });
  return builder.toSchema();
}
