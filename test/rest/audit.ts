import assert from 'node:assert/strict';

/** A service to audit: any address that claims to serve the Petstore API, and a key for it. */
export interface Audited {
  /** The base address without a trailing slash and without the version segment. */
  readonly url: string;
  readonly key: string;
}

/** One rule of the API description. The id is frozen: never changed, never given to another rule. */
export interface Audit {
  readonly id: string;
  /** `MUST …` or `SHOULD …`, with the section of the API description. */
  readonly name: string;
  /** Throws when the service breaks the rule. */
  run(service: Audited): Promise<void>;
}

const JSON_TYPE = { 'content-type': 'application/json' };
/** An animal with all that it may have. */
export const NEW_PET = { name: 'Audit', categoryId: 7, status: 'pending' };

/** A request with the key, to a path below the version segment. */
export async function request({ url, key }: Audited, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text === '' ? undefined : JSON.parse(text) };
}

/** POSTs a JSON value, or a text as it stands, to `/pets`. */
export const create = (service: Audited, body: unknown) =>
  request(service, '/pets', {
    method: 'POST',
    headers: JSON_TYPE,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

type Reply = Awaited<ReturnType<typeof request>>;

function assertError({ status, json, headers }: Reply, expected: number): void {
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
  send: (service: Audited) => Promise<Reply>,
): Audit => ({
  id,
  name,
  run: async (service) => assertError(await send(service), status),
});

/** A body that createPet refuses. */
export const refusesBody = (id: string, what: string, body: unknown): Audit =>
  refuses(id, `MUST answer 400 with an Error when ${what} (§4.2, §7)`, 400, (service) => create(service, body));

/** A query that listPets refuses. */
export const refusesQuery = (id: string, query: string): Audit =>
  refuses(id, `SHOULD answer 400 with an Error to ?${query} (§4.1)`, 400, (service) =>
    request(service, `/pets?${query}`),
  );

/** A request that needs a key. */
export const refusesWithoutKey = (id: string, method: string, path: string): Audit =>
  refuses(id, `MUST answer 401 with an Error to ${method} ${path} without a key (§5)`, 401, (service) =>
    request(service, path, { method, headers: { authorization: '' } }),
  );

/** A category id that comes back digit for digit. */
export const keepsCategory = (id: string, categoryId: string): Audit => ({
  id,
  name: `MUST keep every digit of categoryId ${categoryId}, an int64 (§2)`,
  async run(service) {
    const { status, text } = await create(service, `{"name":"Audit","categoryId":${categoryId}}`);
    assert.equal(status, 201);
    assert.match(text, new RegExp(`"categoryId":${categoryId}[,}]`));
  },
});

/** A status that is kept, and filtered by. */
export const keepsStatus = (id: string, status: string): Audit => ({
  id,
  name: `MUST take and list the status ${status} (§2, §4.1)`,
  async run(service) {
    const created = await create(service, { ...NEW_PET, status });
    assert.equal(created.json.status, status);
    const { json } = await request(service, `/pets?status=${status}&limit=100`);
    assert.ok(json.length > 0);
    for (const pet of json) assert.equal(pet.status, status);
  },
});
