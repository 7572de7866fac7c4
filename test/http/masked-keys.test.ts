import { expect, test } from 'vitest';
import { maskUrl } from '../../src/gateway/masking.ts';
import { sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/load.ts';
import { createRandom, type SeededRandom } from '../support/random.ts';

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_124);
const ROUNDS = 30;
/** So many letters of a key in a row, however encoded, are too many. */
const TOO_MANY = 12;
const hex = (letter: string) => letter.charCodeAt(0).toString(16);
const again = (text: string) => text.replaceAll('%', '%25');

/** The ways in which URLs and JSON may write a letter. */
const WAYS: readonly ((letter: string) => string)[] = [
  (letter) => letter,
  (letter) => letter,
  (letter) => `%${hex(letter)}`,
  (letter) => `%${hex(letter).toUpperCase()}`,
  (letter) => again(`%${hex(letter)}`),
  (letter) => again(again(`%${hex(letter)}`)),
  (letter) => `%25${[...hex(letter)].map((digit) => `%${hex(digit)}`).join('')}`,
  (letter) => `%u00${hex(letter)}`,
  (letter) => `\\u00${hex(letter)}`,
  (letter) => `\\u{${hex(letter)}}`,
  (letter) => `%5Cu00${hex(letter)}`,
  (letter) => `\\x${hex(letter)}`,
];

function encode(random: SeededRandom, key: string): string {
  const ways = Array.from({ length: 1 + random.below(4) }, () => random.pick(WAYS));
  const cut = random.chance(0.3) ? 1 + random.below(key.length - 1) : -1;
  const by = random.pick(['+', '+', '.', '-', '%2F', '%00']);
  return [...key].map((letter, index) => (index === cut ? by : '') + random.pick(ways)(letter)).join('');
}

/** A text as somebody would read it who looks for keys. */
function decode(text: string): string {
  const decoded = text
    .replaceAll(/(?:%u00|\\+u(?:00|\{)|\\+x|%)([2-7][\da-f])\}?/gi, (_all, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replaceAll('+', '');
  return decoded === text ? text : decode(decoded);
}

test('a key, in whatever way its letters are encoded, is in no answer and no line of the log', async () => {
  const gateway = await startGateway(SQLITE, { LOG_LEVEL: 'trace' });
  const { key, port } = gateway;
  const secret = key.slice(key.indexOf('_') + 1);
  const windows = Array.from({ length: secret.length - TOO_MANY + 1 }, (_, at) => secret.slice(at, at + TOO_MANY));
  const raw = (text: string, ...headers: string[]) =>
    sendRaw(port, `${text} HTTP/1.1\r\n${['Host: x', 'Connection: close', ...headers, '', ''].join('\r\n')}`);
  const bearer = `Authorization: Bearer ${key}`;
  const graphql = (query: string, variables?: object, operationName?: string) =>
    gateway
      .request('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables, operationName }),
      })
      .then(({ text }) => text);
  let sent = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const random = createRandom(SEED + round);
    const word = encode(random, key);
    const filled = 'x'.repeat(random.below(120)) + word;
    const far = `${'/y'.repeat(random.below(600))}/${word}`;
    const inHeader = word.replaceAll('\\', '');
    const answers = await Promise.all([
      raw(`GET /${word}`),
      raw(`GET ${far}`),
      raw(`GET ${'/y'.repeat(500)}/${secret}`), // the log cuts the path within it
      raw(`PUT /assets/${word}/graphiql.js`),
      raw(`DELETE /v1/pets/${word}`, bearer),
      raw(`GET /v1/${filled}`, bearer),
      raw(`GET /v1/pets?limit=${word}`, bearer),
      raw(`GET /v1/pets?status=${filled}`, bearer),
      raw(`GET /v1/pets?after=${word}&x=${word}`, bearer),
      raw(`GET /graphql?query={${word}}&operationName=${word}`, bearer, 'Accept: application/json'),
      raw('GET /v1/pets', `Authorization: Bearer ${inHeader}`),
      raw('GET /v1/pets', bearer, `X-Request-Id: ${inHeader}`, `traceparent: ${inHeader}`, `tracestate: ${inHeader}`),
      raw('GET /v1/pets', bearer, `Idempotency-Key: ${inHeader}`, `Origin: http://${inHeader}`, `Accept: ${inHeader}`),
      gateway.createPet({ name: 'a', categoryId: word }).then(({ text }) => text),
      gateway.createPet({ name: 'a', categoryId: 1, status: filled }).then(({ text }) => text),
      graphql(`{ pet(id: ${JSON.stringify(word)}) { id } }`),
      graphql(`{ ${key} pets(status: ${JSON.stringify(filled)}) { id } }`),
      graphql('query ($v: ID!) { pet(id: $v) { id } }', { v: [word] }, filled),
      graphql('{ pets { id } }', {}, `${'x '.repeat(40)}${secret}`), // the message cuts the name within it
      graphql('query ($v: PetStatus) { pets(status: $v) { id } }', { v: word, [word]: word }),
    ]);
    sent += answers.length;
    for (const answer of answers) {
      const found = windows.filter((window) => decode(answer).includes(window));
      expect(found, `seed ${SEED + round}, ${word}: ${answer}`).toEqual([]);
    }
  }
  await eventually(() => gateway.logs.length >= sent, 5000, 'a line for each request');
  const lines = gateway.logs.map((line) => JSON.stringify(line));
  expect(lines.filter((line) => windows.some((window) => decode(line).includes(window)))).toEqual([]);
  expect(lines.filter((line) => line.includes('***')).length).toBeGreaterThan(ROUNDS); // they were there, and masked
});

test.each([
  ['an encoded letter', '/v1/p%65ts', '/v1/p%65ts'],
  ['an encoded percent sign, and more of them', '/v1/%2525252565', '/v1/%2525252565'],
  ['what is encoded in another way each time', `/\\x25${hex('\\')}x41`, `/\\x25${hex('\\')}x41`],
  [
    'what is encoded once too often',
    `/${Array.from({ length: 6 }).reduce((text: string) => text.replaceAll('%', '%u0025'), '%41')}`,
    '***',
  ],
])('a path that holds no key is shown as it was sent, unless nobody can read it: %s', (_what, path, shown) => {
  expect(maskUrl(path)).toBe(shown);
});

test.each(['hex', 'base64url'] as const)('a key in %s is masked as a whole', (encoding) => {
  expect(maskUrl(`/${Buffer.from(`petstore_${'A1'.repeat(19)}`).toString(encoding)}`)).toBe('/***');
});

test.each(['.', '%2E-', '.%2E%2e'])('a key that is cut by %s is masked as a whole', (cut) => {
  expect(maskUrl(`/petstore_${'A1'.repeat(10)}${cut}${'B2'.repeat(9)}`)).toBe('/petstore_***');
});
