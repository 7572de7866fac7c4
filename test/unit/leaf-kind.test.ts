import { GraphQLEnumType, GraphQLFloat, GraphQLInt } from 'graphql';
import { expect, test } from 'vitest';
import { leafKind } from '../../src/gateway/schema/answer-format.ts';

const { writeGraphql } = leafKind(GraphQLInt);

test.each([0, 7, -(2 ** 31), 2 ** 31 - 1])('an Int is written: %s', (value) => {
  expect(writeGraphql(value)).toBe(JSON.stringify(value));
});

test.each([1.5, 2 ** 31, '7', Number.NaN])('what is no Int is a fault of ours: %s', (value) => {
  expect(() => writeGraphql(value)).toThrow('no Int');
});

test('a scalar that no kind is stops the start', () => {
  expect(() => leafKind(GraphQLFloat)).toThrow('Float is of no kind');
});

test.each([
  ['a word that is not its name in small letters', { value: 'gone' }],
  ['a number', { value: 1 }],
])('an enum with %s is of no kind: REST would have other words than GraphQL', (_what, SOLD) => {
  const type = new GraphQLEnumType({ name: 'Status', values: { OPEN: { value: 'open' }, SOLD } });
  expect(() => leafKind(type)).toThrow('Status is of no kind');
});

test('an integer is 0 where JSON says -0', () => {
  expect(leafKind(GraphQLInt).fromJson(-0)).toBe(0);
  expect(leafKind(GraphQLInt).fromText('-0')).toBe(0);
});
