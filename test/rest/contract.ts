import assert from 'node:assert/strict';
import {
  type Audit,
  assertPet,
  keepsCategory,
  keepsStatus,
  NEW_PET,
  refuses,
  refusesBody,
  refusesQuery,
  refusesWithoutKey,
} from './audit.ts';

/** The API description as a list of rules. New ones go to the end. */
export const AUDITS: readonly Audit[] = [
  {
    id: '7A31',
    name: 'MUST answer GET /pets with 200 and an array of Pet (§4.1)',
    async run(service) {
      await service.createPet(NEW_PET);
      const { status, headers, json } = await service.request('/v1/pets');
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
      assert.ok(Array.isArray(json) && json.length > 0);
      json.forEach(assertPet);
    },
  },
  {
    id: '0C5E',
    name: 'MUST list at most 20 animals without a limit (§4.1, §8)',
    async run(service) {
      await Promise.all(Array.from({ length: 21 }, () => service.createPet(NEW_PET)));
      assert.equal((await service.request('/v1/pets')).json.length, 20);
    },
  },
  {
    id: 'B2D8',
    name: 'MUST list at most as many animals as the limit says (§4.1, §8)',
    async run(service) {
      await Promise.all([service.createPet(NEW_PET), service.createPet(NEW_PET)]);
      assert.equal((await service.request('/v1/pets?limit=1')).json.length, 1);
      assert.equal((await service.request('/v1/pets?limit=2')).json.length, 2);
      assert.ok((await service.request('/v1/pets?limit=100')).json.length <= 100);
    },
  },
  refusesQuery('4F19', 'limit=0'),
  refusesQuery('E6A0', 'limit=101'),
  refusesQuery('93BC', 'limit=ten'),
  refusesQuery('1D77', 'status=lost'),
  keepsStatus('C804', 'available'),
  keepsStatus('5E2B', 'pending'),
  keepsStatus('A9F3', 'sold'),
  {
    id: '68D1',
    name: 'MUST answer POST /pets with 201 and the created Pet with its id (§4.2)',
    async run(service) {
      const { status, headers, json } = await service.createPet(NEW_PET);
      assert.equal(status, 201);
      assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
      assertPet(json);
      assert.deepEqual(json, { id: json.id, ...NEW_PET });
    },
  },
  {
    id: 'D45A',
    name: 'MUST give each animal an id of its own (§2)',
    async run(service) {
      const created = await Promise.all(Array.from({ length: 10 }, () => service.createPet(NEW_PET)));
      assert.equal(new Set(created.map(({ json }) => json.id)).size, 10);
    },
  },
  {
    id: '2B96',
    name: 'MUST take an animal without a status, and make none up (§2)',
    async run(service) {
      const { status, json } = await service.createPet({ name: 'Audit', categoryId: 7 });
      assert.equal(status, 201);
      assert.ok(!('status' in json));
    },
  },
  keepsCategory('F70D', '9223372036854775807'),
  keepsCategory('38E4', '-9223372036854775808'),
  keepsCategory('8C62', '9007199254740993'),
  refusesBody('06FB', 'name is missing', { categoryId: 7 }),
  refusesBody('BD13', 'categoryId is missing', { name: 'Audit' }),
  refusesBody('71C9', 'name is no string', { ...NEW_PET, name: 7 }),
  refusesBody('E05F', 'categoryId is a string', { ...NEW_PET, categoryId: '7' }),
  refusesBody('4A8E', 'categoryId is no integer', { ...NEW_PET, categoryId: 7.5 }),
  refusesBody('95D0', 'categoryId is no int64', '{"name":"Audit","categoryId":9223372036854775808}'),
  refusesBody('2F3C', 'status is no PetStatus', { ...NEW_PET, status: 'lost' }),
  refusesBody('C1B7', 'the body is no object', [NEW_PET]),
  refusesBody('57EA', 'the body is no JSON', '{"name":'),
  refusesBody('A362', 'there is no body', ''),
  {
    id: '19D4',
    name: 'MUST answer GET /pets/{petId} with 200 and the animal of that id (§4.3)',
    async run(service) {
      const created = await service.createPet(NEW_PET);
      const { status, text } = await service.request(`/v1/pets/${created.json.id}`);
      assert.equal(status, 200);
      assert.equal(text, created.text);
    },
  },
  refuses('EC80', 'MUST answer 404 with an Error when no animal has the id (§4.3, §7)', 404, (service) =>
    service.request('/v1/pets/-404'),
  ),
  refusesWithoutKey('3D5B', 'GET', '/pets'),
  refusesWithoutKey('80F6', 'POST', '/pets'),
  refusesWithoutKey('B74E', 'GET', '/pets/1'),
  refuses('6219', 'MUST answer 401 with an Error to an invalid key (§5)', 401, (service) =>
    service.request('/v1/pets', { headers: { authorization: 'Bearer no-key-of-yours' } }),
  ),
];
