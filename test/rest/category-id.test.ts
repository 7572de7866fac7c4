import { describe, expect, it } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { expectRefusal, useGateway } from './checked-gateway.ts';

const TAKEN: readonly (readonly [spelling: string, stored: string])[] = [
  ['0', '0'],
  ['-0', '0'],
  ['-0.0', '0'],
  ['0e999999999', '0'],
  ['1.0', '1'],
  ['1e2', '100'],
  ['1E+2', '100'],
  ['100e-2', '1'],
  ['0.5e1', '5'],
  ['1.00000000000000000000', '1'],
  ['9007199254740991', '9007199254740991'],
  ['9007199254740992', '9007199254740992'],
  ['9007199254740993', '9007199254740993'],
  ['-9007199254740993', '-9007199254740993'],
  ['9007199254740993.000', '9007199254740993'],
  ['1e18', '1000000000000000000'],
  ['999999999999999999', '999999999999999999'],
  ['9223372036854775806', '9223372036854775806'],
  ['9223372036854775807', '9223372036854775807'],
  ['9223372036854775807.0', '9223372036854775807'],
  ['922337203685477580.7e1', '9223372036854775807'],
  ['92233720368547758070E-1', '9223372036854775807'],
  ['-9223372036854775808', '-9223372036854775808'],
];

const REFUSED = [
  '9223372036854775808',
  '-9223372036854775809',
  '18446744073709551616',
  '1e19',
  '1e30',
  '1e400',
  '1e999999999',
  '-1e999999999',
  '1.5',
  '-0.1',
  '1e-1',
  '1e-400',
  '1.00000000000000000001',
  '9007199254740992.5',
  '9223372036854775807.5',
  `1${'0'.repeat(5000)}`,
  '"1"',
  '"9223372036854775807"',
  '""',
  'true',
  'false',
  'null',
  '[1]',
  '[]',
  '{}',
  '{"valueOf":1}',
];

const NO_JSON = ['01', '-01', '+1', '1.', '.5', '1e', '0x1F', '1_000', '1n', 'NaN', 'Infinity', '-', '--1', '1,5', '١'];

describeEachEngine('createPet › categoryId', (engine) => {
  const gateway = useGateway(engine);

  describe('201', () => {
    it.each(TAKEN)('%s is the integer %s, from get and list too', async (spelling, stored) => {
      const created = await gateway().post(`{"name":"Rex","categoryId":${spelling}}`);
      const { id } = created.json;
      const pet = `{"id":${id},"name":"Rex","categoryId":${stored}}`;
      expect(created.text).toBe(pet);
      expect((await gateway().get(`/v1/pets/${id}`)).text).toBe(pet);
      expect((await gateway().get(`/v1/pets?after=${id - 1}&limit=1`)).text).toBe(`[${pet}]`);
    });

    it.each(TAKEN)('%s reads the same over GraphQL: "%s"', async (spelling, stored) => {
      const { json } = await gateway().post(`{"name":"Rex","categoryId":${spelling}}`);
      const { text } = await gateway().graphql(`{ pet(id: "${json.id}") { categoryId } }`);
      expect(text).toContain(`{"data":{"pet":{"categoryId":"${stored}"}}`);
    });
  });

  describe('400', () => {
    it.each(REFUSED)('%.40s is no 64-bit integer', async (spelling) => {
      const answer = await gateway().post(`{"name":"Rex","categoryId":${spelling}}`);
      expectRefusal(answer, 400, /^categoryId must be a 64-bit integer(: |, not )/);
    });

    it.each(NO_JSON)('%s is no JSON', async (spelling) => {
      const answer = await gateway().post(`{"name":"Rex","categoryId":${spelling}}`);
      expectRefusal(answer, 400, /^The body is not valid JSON: .+\.$/);
    });
  });
});
