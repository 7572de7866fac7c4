import { GraphQLInt, GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { planLeaf } from '../../src/schema/leaf-plan.ts';

const type = new GraphQLObjectType({
  name: 'Order',
  fields: { quantity: { type: GraphQLInt, extensions: { pothosExposedField: 'quantity' } } },
});
const write = (value: unknown) => planLeaf(type, 'quantity', 'quantity', '')?.writeJson(value);

test.each([0, 7, -(2 ** 31), 2 ** 31 - 1])('an Int is written by a plan: %s', (value) => {
  expect(write(value)).toBe(JSON.stringify(value));
});

test.each([1.5, 2 ** 31, '7', Number.NaN])('what is no Int is a fault of ours: %s', (value) => {
  expect(() => write(value)).toThrow('no Int');
});
