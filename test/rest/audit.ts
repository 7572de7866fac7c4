import assert from 'node:assert/strict';
import type { Answer } from '../support/client.ts';
import type { TestGateway } from '../support/gateway.ts';

/** A service to audit. */
export type Audited = Pick<TestGateway, 'request' | 'createPet'>;

/** One rule of the API description. The id is frozen: never changed, never given to another rule. */
export interface Audit {
  readonly id: string;
  /** `MUST …` or `SHOULD …`, with the section of the API description. */
  readonly name: string;
  /** Throws when the service breaks the rule. */
  run(service: Audited): Promise<void>;
}

/** An animal with all that it may have. */
export const NEW_PET = { name: 'Audit', categoryId: 7, status: 'pending' };

function assertError({ status, json, headers }: Answer, expected: number): void {
  assert.equal(status, expected);
  assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
  assert.deepEqual(Object.keys(json).sort(), ['code', 'message', 'status']);
  assert.equal(typeof json.code, 'string');
  assert.equal(typeof json.message, 'string');
  assert.equal(json.status, expected);
}

/** The value is a Pet of the API description (§2). */
export function assertPet(pet: Record<string, unknown>): void {
  assert.ok(Number.isInteger(pet.id), 'id is an integer');
  assert.equal(typeof pet.name, 'string');
  assert.ok(Number.isInteger(pet.categoryId), 'categoryId is an integer');
  assert.ok(
    !('status' in pet) || ['available', 'pending', 'sold'].includes(String(pet.status)),
    'status is a PetStatus',
  );
}

/** The rule that a request, made right but for one thing, is refused. */
export const refuses = (
  id: string,
  name: string,
  status: number,
  send: (service: Audited) => Promise<Answer>,
): Audit => ({
  id,
  name,
  run: async (service) => assertError(await send(service), status),
});

/** A body that createPet refuses. */
export const refusesBody = (id: string, what: string, body: unknown): Audit =>
  refuses(id, `MUST answer 400 with an Error when ${what} (§4.2, §7)`, 400, ({ createPet }) => createPet(body));

/** A query that listPets refuses. */
export const refusesQuery = (id: string, query: string): Audit =>
  refuses(id, `SHOULD answer 400 with an Error to ?${query} (§4.1)`, 400, (service) =>
    service.request(`/v1/pets?${query}`),
  );

/** A request that needs a key. */
export const refusesWithoutKey = (id: string, method: string, path: string): Audit =>
  refuses(id, `MUST answer 401 with an Error to ${method} ${path} without a key (§5)`, 401, (service) =>
    service.request(`/v1${path}`, { method, headers: { authorization: '' } }),
  );

/** A category id that comes back digit for digit. */
export const keepsCategory = (id: string, categoryId: string): Audit => ({
  id,
  name: `MUST keep every digit of categoryId ${categoryId}, an int64 (§2)`,
  async run(service) {
    const { status, text } = await service.createPet(`{"name":"Audit","categoryId":${categoryId}}`);
    assert.equal(status, 201);
    assert.match(text, new RegExp(`"categoryId":${categoryId}[,}]`));
  },
});

/** A status that is kept, and filtered by. */
export const keepsStatus = (id: string, status: string): Audit => ({
  id,
  name: `MUST take and list the status ${status} (§2, §4.1)`,
  async run(service) {
    const created = await service.createPet({ ...NEW_PET, status });
    assert.equal(created.json.status, status);
    const { json } = await service.request(`/v1/pets?status=${status}&limit=100`);
    assert.ok(json.length > 0);
    for (const pet of json) assert.equal(pet.status, status);
  },
});
