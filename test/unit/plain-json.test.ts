import { expect, test } from 'vitest';
import { plainJson, requestOf } from '../../src/gateway/pages/code-samples.js';

test.each([
  ['a comment after a value', '{"a": 1} // one', '{"a": 1}'],
  ['a comment within', '{/* one\nand two */"a": 1}', '{"a": 1}'],
  ['a comma before a brace', '{"a": [1, 2,\n], // and more\n}', '{"a": [1, 2\n] \n}'],
  ['a comma, a comment, a brace', '{"a": 1, /* end */ }', '{"a": 1  }'],
  ['digits that a number has not', '{"id": 9007199254740993, "x": 1.0}', '{"id": 9007199254740993, "x": 1.0}'],
  ['slashes in a text', '{"a": "http://x/*y*/"}', '{"a": "http://x/*y*/"}'],
  ['a comma and a brace in a text', '{"a": "b,}", "c": ",]"}', '{"a": "b,}", "c": ",]"}'],
  ['a quote in a text', '{"a": "\\"// b\\\\", "c": 1} // d', '{"a": "\\"// b\\\\", "c": 1}'],
  ['a quote in a comment', '{"a": 1} // "b', '{"a": 1}'],
  ['comments alone', ' // nothing\n/* at all */ ', ''],
])('%s', (_what, text, plain) => {
  expect(plainJson(text)).toBe(plain);
});

test.each([
  ['a/b?c#d', '/things/a%2Fb%3Fc%23d'],
  ['100 %', '/things/100%20%25'],
  ['..', '/things/..'],
  ['\ud83d', '/things/%EF%BF%BD'],
  ['', '/things/'],
])('%j in a path is sent as one segment', (value, path) => {
  const { url } = requestOf('GET', 'http://host', '/things/{id}', [{ in: 'path', name: 'id', value }]);
  expect(url).toBe(`http://host${path}`);
});
