import { createRandom } from '../test/support/random.ts';
import { ALL, type Asked, getGraphql, list, postGraphql } from './asked.ts';

const SELECTIONS = list`
  { id } ¦ ${ALL} ¦ { name id } ¦ { __typename id } ¦ { a: id b: id name } ¦ { id ...F } ¦ { ... on Pet { name } ... { id } }
  { id @skip(if: $yes) name @include(if: $no) } ¦ { id @include(if: true) status @skip(if: false) } ¦ { } ¦ ∅ ¦ { nope } ¦ { id { x } } ¦ { id id name } ¦ { a: id a: name }`;
const INTEGERS = list`
  1 ¦ 0 ¦ 100 ¦ 101 ¦ -1 ¦ 2147483647 ¦ 2147483648 ¦ 1.0 ¦ 1e2 ¦ "5" ¦ null ¦ true ¦ [1] ¦ SOLD ¦ $n`;
const IDS = list`
  "1" ¦ 1 ¦ "200" ¦ "0" ¦ "01" ¦ "abc" ¦ "" ¦ "9223372036854775807" ¦ "9223372036854775808"
  "-9223372036854775808" ¦ 9007199254740993 ¦ 1.5 ¦ null ¦ true ¦ $id ¦ {a: 1}`;
const STATUSES = ['SOLD', 'AVAILABLE', 'PENDING', 'sold', '"SOLD"', 'null', '1', '$s'];
const NAMES = ['"Rex"', '""', '"é \\u5c0f"', '"\\ud83d"', '"""block\n  text"""', 'null', '1', '$name'];
const DECLARED = Object.entries({
  n: 'Int!',
  id: 'ID!',
  s: 'PetStatus',
  name: 'String!',
  yes: 'Boolean!',
  no: 'Boolean!',
});
const VALUES: Readonly<Record<string, readonly string[]>> = {
  n: list`
  5 ¦ 100 ¦ 0 ¦ 101 ¦ -1 ¦ 1.0 ¦ 1.5 ¦ 1e1 ¦ 9007199254740993 ¦ "5" ¦ null ¦ true ¦ 1e400`,
  id: list`
  "1" ¦ 7 ¦ 9007199254740993 ¦ 9223372036854775807 ¦ 9223372036854775808 ¦ 1.0 ¦ 1.5 ¦ 1e2 ¦ "x" ¦ null ¦ [1] ¦ {}
  true ¦ 1e400`,
  s: ['"SOLD"', '"sold"', 'null', '1', '"PENDING"'],
  name: ['"Rex"', '""', '"\\ud83d"', 'null', '1', `"${'n'.repeat(300)}"`],
  yes: ['true', '"true"', 'null'],
  no: ['false', '0'],
};

/** Documents put together by chance, with the variables that they name, or other ones. */
export function composeDocuments(): Asked[] {
  const random = createRandom(3);
  const some = (parts: readonly string[]) => parts.filter(() => random.chance(0.4)).join(', ');
  const args = (parts: readonly string[]) => {
    const text = some(parts);
    return text === '' ? '' : `(${text})`;
  };
  const field = () => {
    const selection = random.chance(0.6) ? ALL : random.pick(SELECTIONS);
    const alias = random.chance(0.3) ? `${random.pick(['a', 'b', 'pets'])}: ` : '';
    const directive = random.chance(0.15)
      ? random.pick([' @skip(if: $yes)', ' @include(if: $no)', ' @include(if: true)', ' @skip'])
      : '';
    const limit = random.chance(0.6) ? '7' : random.pick(INTEGERS);
    if (random.chance(0.7))
      return `${alias}pets${args([`limit: ${limit}`, `status: ${random.pick(STATUSES)}`, `after: ${random.pick(IDS)}`])}${directive} ${selection}`;
    return random.chance(0.6) ? `${alias}pet(id: ${random.pick(IDS)})${directive} ${selection}` : '__typename';
  };
  return Array.from({ length: 700 }, () => {
    const isMutation = random.chance(0.2);
    const add = () =>
      `addPet(input: { ${[`name: ${random.pick(NAMES)}`, `categoryId: ${random.pick(IDS)}`, ...(random.chance(0.5) ? [`status: ${random.pick(STATUSES)}`] : [])].join(', ')} }) ${random.pick([ALL, ALL, ...SELECTIONS])}`;
    const fields = isMutation ? add() : Array.from({ length: 1 + random.below(3) }, field).join(' ');
    const declared = DECLARED.filter(([name]) => random.chance(0.03) !== new RegExp(`\\$${name}\\b`).test(fields));
    const head =
      declared.length > 0
        ? `(${declared.map(([name, type]) => `$${name}: ${random.chance(0.2) ? type.replace('!', '') : type}`).join(', ')})`
        : '';
    const query = `${isMutation ? 'mutation' : 'query'} Q${head} { ${fields} }${fields.includes('...F') ? ' fragment F on Pet { categoryId status }' : ''}`;
    const variables = declared
      .filter(() => random.chance(0.93))
      .map(([name]) => `"${name}":${random.pick(VALUES[name] ?? ['1'])}`);
    if (random.chance(0.15)) return getGraphql({ query, variables: `{${variables}}` });
    return postGraphql(`{"query":${JSON.stringify(query)},"variables":{${variables}}}`, {}, 'graphql composed');
  });
}
