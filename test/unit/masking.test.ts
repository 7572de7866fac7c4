import { expect, test } from 'vitest';
import { quoteInput } from '../../src/gateway/masking.ts';

const KEY = `petstore_${'aB3'.repeat(14)}`;
const encode = (text: string) => text.replaceAll(/./gs, (one) => `%${one.charCodeAt(0).toString(16)}`);

test.each([
  ['sold ', 'sold '],
  [KEY, 'petstore_***'],
  [`before ${KEY} after`, 'before petstore_*** after'],
  [encode(KEY), 'petstore_***'],
  [encode(KEY).replaceAll('%', '%25'), 'petstore_***'],
  // Of a key that begins before the hundredth character, no part is quoted, even without its prefix.
  [`${'x '.repeat(40)}${'aB3'.repeat(14)}`, `${'x '.repeat(40)}***`],
  ['100 % of a word', '100 % of a word'],
  ['x'.repeat(100), 'x'.repeat(100)],
  ['x'.repeat(101), `${'x'.repeat(100)}…`],
  [`${'x'.repeat(99)}🐈`, `${'x'.repeat(99)}…`],
  [`${'x'.repeat(98)}🐈`, `${'x'.repeat(98)}🐈`],
  ['\ud83d', '\ufffd'],
  ['two\nlines', 'two\ufffdlines'],
  ['two\u2028lines\u2029', 'two\ufffdlines\ufffd'],
  ['left\u202eright\u2066', 'left\ufffdright\ufffd'],
])('a message quotes %j as %j', (text, quoted) => {
  expect(quoteInput(text)).toBe(quoted);
});
