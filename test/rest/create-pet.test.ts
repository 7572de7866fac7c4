import { describe, expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { expectRefusal, useGateway } from './checked-gateway.ts';

const NAMES: readonly (readonly [what: string, name: string])[] = [
  ['empty', ''],
  ['one space', ' '],
  ['spaces at both ends', '  Rex  '],
  ['NUL', '\0'],
  ['NUL within', 'a\0b'],
  ['line breaks and tabs', 'a\r\nb\tc'],
  ['quotes and backslashes', `"'\`\\ \\" \\u0041`],
  ['SQL', "'); DROP TABLE pets; -- ?"],
  ['markup', '</script><img src=x onerror=alert(1)>'],
  ['an emoji', '🐶'],
  ['a family of joined emoji', '👩‍👩‍👧‍👦'],
  ['composed é', '\u00e9'],
  ['é of e and a combining accent', 'e\u0301'],
  ['forty combining marks', `a${'\u0301'.repeat(40)}`],
  ['right to left', 'كلب \u202e!'],
  ['a byte order mark', '\ufeffRex'],
  ['line and paragraph separators', '\u2028\u2029'],
  ['noncharacters', '\ufffe\uffff\u{10ffff}'],
  ['the replacement character', '\ufffd'],
  ['__proto__', '__proto__'],
  ['digits', '9223372036854775808'],
  ['60 kB', 'x'.repeat(60_000)],
  ['60 kB of emoji', '🐈'.repeat(15_000)],
];

const WRONG_NAMES: readonly (readonly [what: string, json: string])[] = [
  ['a high surrogate alone', '"\\ud83d"'],
  ['a low surrogate alone', '"a\\udc36"'],
  ['surrogates in the wrong order', '"\\udc36\\ud83d"'],
  ['null', 'null'],
  ['a number', '1'],
  ['true', 'true'],
  ['an array', '["Rex"]'],
  ['an object', '{"first":"Rex"}'],
];

const WRONG_STATUSES = [
  '"SOLD"',
  '"Sold"',
  '""',
  '" sold"',
  '"unknown"',
  '"constructor"',
  'null',
  '1',
  'true',
  '["sold"]',
  '{}',
];

describeEachEngine('createPet', (engine) => {
  const gateway = useGateway(engine);

  describe('201', () => {
    it.each(NAMES)('a name of %s comes back byte for byte, from get and list too', async (_what, name) => {
      const created = await gateway().post(JSON.stringify({ name, categoryId: 1 }));
      expect(created.status).toBe(201);
      expect(Buffer.from(created.json.name)).toEqual(Buffer.from(name));
      const got = await gateway().get(`/v1/pets/${created.json.id}`);
      const list = await gateway().get(`/v1/pets?after=${created.json.id - 1}&limit=1`);
      expect(got.text).toBe(created.text);
      expect(list.text).toBe(`[${created.text}]`);
    });

    it.each(['available', 'pending', 'sold'])('status %s is kept', async (status) => {
      const { text, json } = await gateway().post(JSON.stringify({ name: 'Rex', categoryId: 1, status }));
      expect(text).toBe(`{"id":${json.id},"name":"Rex","categoryId":1,"status":"${status}"}`);
    });

    test('without a status the animal has none: no default is made up', async () => {
      const { text, json } = await gateway().post('{"name":"Rex","categoryId":1}');
      expect(text).toBe(`{"id":${json.id},"name":"Rex","categoryId":1}`);
    });

    test('Location is the path of the animal', async () => {
      const { headers, text, json } = await gateway().post('{"name":"Rex","categoryId":1}');
      expect(headers.get('location')).toBe(`/v1/pets/${json.id}`);
      expect((await gateway().get(headers.get('location') ?? '')).text).toBe(text);
    });

    it.each([
      ['id', '"id":77'],
      ['__proto__', '"__proto__":{"status":"sold"}'],
      ['constructor', '"constructor":null'],
      ['a name in capitals', '"Name":"Max","STATUS":"sold"'],
      ['any depth', `"more":${'[{"a":'.repeat(500)}1${'}]'.repeat(500)}`],
      ['a number that no double holds', '"weight":1e999999999'],
      ['a lone surrogate', '"note":"\\ud83d"'],
    ])('an unknown property (%s) is ignored', async (_what, property) => {
      const { status, text, json } = await gateway().post(`{"name":"Rex","categoryId":1,${property}}`);
      expect(status).toBe(201);
      expect(text).toBe(`{"id":${json.id},"name":"Rex","categoryId":1}`);
      expect(json.id).not.toBe(77);
    });

    it.each([
      ['"name":"Max","name":"Rex","categoryId":1', '"name":"Rex","categoryId":1'],
      ['"categoryId":1,"categoryId":9223372036854775807,"name":"Rex"', '"name":"Rex","categoryId":9223372036854775807'],
      ['"categoryId":9223372036854775807,"categoryId":1,"name":"Rex"', '"name":"Rex","categoryId":1'],
      ['"name":null,"name":"Rex","categoryId":1', '"name":"Rex","categoryId":1'],
    ])('of a repeated property the last one counts: {%s}', async (body, stored) => {
      const { text, json } = await gateway().post(`{${body}}`);
      expect(text).toBe(`{"id":${json.id},${stored}}`);
    });
  });

  describe('400', () => {
    it.each(WRONG_NAMES)('a name that is %s is refused', async (_what, json) => {
      expectRefusal(
        await gateway().post(`{"name":${json},"categoryId":1}`),
        400,
        /^name must be (a string, not|well-formed Unicode)/,
      );
    });

    it.each(WRONG_STATUSES)('status %s is refused', async (json) => {
      const answer = await gateway().post(`{"name":"Rex","categoryId":1,"status":${json}}`);
      expectRefusal(answer, 400, /^status must be one of available, pending, sold/);
    });

    it.each([
      ['{}', 'name'],
      ['{"categoryId":1}', 'name'],
      ['{"name":"Rex"}', 'categoryId'],
      ['{"Name":"Rex","categoryId":1}', 'name'],
      ['{"__proto__":{"name":"Rex"},"categoryId":1}', 'name'],
      ['{"name":"Rex","categoryID":1}', 'categoryId'],
    ])('%s lacks %s', async (body, field) => {
      expectRefusal(await gateway().post(body), 400, new RegExp(`^${field} is required`));
    });

    test('nothing refused was stored', async () => {
      const before = await gateway().storedIds();
      for (const [, json] of WRONG_NAMES) await gateway().post(`{"name":${json},"categoryId":1}`);
      for (const json of WRONG_STATUSES) await gateway().post(`{"name":"Rex","categoryId":1,"status":${json}}`);
      expect(await gateway().storedIds()).toEqual(before);
    });
  });
});
