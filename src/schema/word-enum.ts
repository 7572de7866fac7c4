import type { Builder } from './builder.ts';

/**
 * An enum of the words that the store and REST have: GraphQL has the same words in capitals. `descriptions` has one for
 * each word, in the order of the enum.
 */
export function wordEnum<Word extends string>(
  builder: Builder,
  name: string,
  description: string,
  descriptions: Readonly<Record<Word, string>>,
) {
  const words = Object.keys(descriptions) as Word[]; // the type has no other keys
  const values = words.map((word) => [word.toUpperCase(), { value: word, description: descriptions[word] }] as const);
  return builder.enumType(name, { description, values: Object.fromEntries(values) });
}
