import { describe, expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { expectRefusal, useGateway } from './checked-gateway.ts';

describeEachEngine('createPet', (engine) => {
  const gateway = useGateway(engine);

  describe('201', () => {
    it.each(['', ',"status":"sold"'])('the animal is what was sent, and its id: {…%s}', async (status) => {
      const { text, json } = await gateway.post(`{"name":"Rex","categoryId":1${status}}`);
      expect(text).toBe(`{"id":${json.id},"name":"Rex","categoryId":1${status}}`);
    });

    test('Location is the path of the animal', async () => {
      const { headers, text, json } = await gateway.post('{"name":"Rex","categoryId":1}');
      expect(headers.get('location')).toBe(`/v1/pets/${json.id}`);
      expect((await gateway.get(headers.get('location') ?? '')).text).toBe(text);
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
      const { status, text, json } = await gateway.post(`{"name":"Rex","categoryId":1,${property}}`);
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
      const { text, json } = await gateway.post(`{${body}}`);
      expect(text).toBe(`{"id":${json.id},${stored}}`);
    });
  });

  test('a name with a lone surrogate is refused: it would be stored as another', async () => {
    const answer = await gateway.post('{"name":"a\\udc36","categoryId":1}');
    expectRefusal(answer, 400, /^name must be well-formed Unicode/);
  });
});
