import { describe, expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { served } from '../support/load.ts';
import { expectRefusal, useGateway } from './checked-gateway.ts';

const PET = '{"name":"Rex","categoryId":1,"status":"sold"}';
const ADD_PET = 'mutation ($input: NewPetInput!) { addPet(input: $input) { id } }';
const SAME_PET = { input: { name: 'Rex', categoryId: '1', status: 'SOLD' } };
const HOUR_MS = 3_600_000;

let keys = 0;
/** An Idempotency-Key that no other test has used. */
const newKey = () => `key-${++keys}`;

describeEachEngine('Idempotency-Key', (engine) => {
  const gateway = useGateway(engine);
  const post = (idempotencyKey: string, body = PET) => gateway.post(body, { 'idempotency-key': idempotencyKey });

  describe('201', () => {
    test('a retry gets the first answer again, and there is one animal', async () => {
      const before = await gateway.storedIds();
      const key = newKey();
      const [first, ...retries] = [await post(key), await post(key), await post(key)];
      expect(first.status).toBe(201);
      expect(first.headers.has('idempotency-replayed')).toBe(false);
      for (const retry of retries) {
        expect([retry.status, retry.text]).toEqual([201, first.text]);
        expect(retry.headers.get('location')).toBe(first.headers.get('location'));
        expect(retry.headers.get('idempotency-replayed')).toBe('true');
      }
      expect(await gateway.storedIds()).toHaveLength(before.length + 1);
    });

    test('any number of retries at once get the first answer again', async () => {
      const key = newKey();
      const first = await post(key);
      const retries = await Promise.all(Array.from({ length: 40 }, () => served(() => post(key))));
      const replayed = retries.map(({ status, text, headers }) => [status, text, headers.get('idempotency-replayed')]);
      expect(replayed).toEqual(retries.map(() => [201, first.text, 'true']));
    });

    it.each([
      '{"categoryId":1,"status":"sold","name":"Rex"}',
      ' {"name":"\\u0052ex", "categoryId":1.0, "status":"sold"}',
      '{"name":"Rex","categoryId":10e-1,"status":"sold","more":true}',
    ])('the same input in other words is the same: %s', async (body) => {
      const key = newKey();
      const first = await post(key);
      const retry = await post(key, body);
      expect(retry.text).toBe(first.text);
      expect(retry.headers.get('idempotency-replayed')).toBe('true');
    });

    test('both APIs share the keys: GraphQL first', async () => {
      const key = newKey();
      const first = await gateway.graphql(ADD_PET, SAME_PET, { 'idempotency-key': key });
      const retry = await post(key);
      expect(String(retry.json.id)).toBe(first.json.data.addPet.id);
      expect(retry.headers.get('idempotency-replayed')).toBe('true');
    });

    it.each([
      ['~', '~'],
      ['~'.repeat(255), '~'.repeat(255)],
      [`"${'y'.repeat(255)}"`, 'y'.repeat(255)],
      ['"bare"', 'bare'],
      ['"say\\"\\\\"', 'say"\\'], // RFC 9651: within quotes, a quote and a backslash are escaped
      ['" order 1 "', '" order 1 "'],
      [`"${'\\\\'.repeat(255)}"`, '\\'.repeat(255)],
    ])('the key %s is taken, and is the same as %s', async (key, same) => {
      const first = await post(key);
      expect([first.status, first.headers.has('idempotency-replayed')]).toEqual([201, false]);
      const retry = await post(same);
      expect([retry.text, retry.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    });

    it.each([
      ['case', 'differs', 'Differs'],
      ['blanks within quotes', '"differs"', '"differs "'],
    ])('keys that differ in %s are two', async (_what, one, other) => {
      const answers = [await post(one), await post(other)];
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(answers[0]?.json.id).not.toBe(answers[1]?.json.id);
    });

    test('a refused request uses no key up', async () => {
      const key = newKey();
      expect((await post(key, '{"name":"Rex"}')).status).toBe(400);
      const answer = await post(key);
      expect(answer.status).toBe(201);
      expect(answer.headers.has('idempotency-replayed')).toBe(false);
    });

    test('after 24 hours the key is new, for another input too', async () => {
      const key = newKey();
      const first = await post(key);
      await gateway.database.knex('idempotency_keys').decrement('created_at', 24 * HOUR_MS);
      const later = await post(key, '{"name":"Max","categoryId":2}');
      expect(later.status).toBe(201);
      expect(later.json.id).not.toBe(first.json.id);
      expect((await post(key, '{"name":"Max","categoryId":2}')).text).toBe(later.text);
    });
  });

  it.each([
    ['another name', '{"name":"Max","categoryId":1,"status":"sold"}'],
    ['another category', '{"name":"Rex","categoryId":2,"status":"sold"}'],
    ['another status', '{"name":"Rex","categoryId":1,"status":"pending"}'],
    ['no status', '{"name":"Rex","categoryId":1}'],
  ])('422: the same key with %s', async (_what, body) => {
    const key = newKey();
    await post(key);
    expectRefusal(await post(key, body), 422, /used with another input/);
  });

  it.each([
    ...['', 'a b', 'a\tb', 'é', 'x'.repeat(256)],
    ...['""', '"a", "b"', '"a b', '"a\tb"', '"é"', `"${'x'.repeat(256)}"`],
  ])('400: the key %j is refused, and nothing is added', async (key) => {
    const before = await gateway.storedIds();
    expectRefusal(await post(key), 400, /^The header Idempotency-Key must be 1 to 255 visible ASCII characters/);
    expect(await gateway.storedIds()).toEqual(before);
  });

  test('a GET does not look at it', async () => {
    expect((await gateway.call('GET', '/v1/pets', { headers: { 'idempotency-key': 'a b' } })).status).toBe(200);
  });
});
