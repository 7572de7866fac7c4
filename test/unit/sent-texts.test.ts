import { getNamedType, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { SCHEMA } from '../support/petstore-api.ts';

/** The rules of an input, as `boundsOf` finds them. */
const rulesOf = ({ extensions }: { readonly extensions: object }): readonly z.core.$ZodType[] =>
  Object(extensions)['@pothos/plugin-validation']?.schemas ?? [];

// UTF-8 has no lone surrogate: the database would keep another text, U+FFFD in its place, without a word.
test('every text that an input object takes has a rule that refuses a lone surrogate', () => {
  const objects = Object.values(SCHEMA.getTypeMap()).filter(isInputObjectType);
  const texts = objects.flatMap((object) =>
    Object.values(object.getFields())
      .filter(({ type }) => getNamedType(type).name === 'String')
      .map((field) => ({ name: `${object.name}.${field.name}`, rules: rulesOf(field) })),
  );
  const isRefused = (text: string) => (rule: z.core.$ZodType) => !z.safeParse(rule, text).success;
  expect(texts.filter(({ rules }) => !rules.some(isRefused('a\ud800'))).map(({ name }) => name)).toEqual([]);
  expect(texts.length).toBeGreaterThan(0);
});
