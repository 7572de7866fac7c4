import type { SeededRandom } from '../support/random.ts';

/** A request as a hostile or careless client might send it. */
export interface GeneratedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

const METHODS = 'GET GET GET GET POST POST POST POST POST HEAD PUT PATCH DELETE OPTIONS TRACE PROPFIND'.split(' ');
const TEXTS = [
  '',
  'Rex',
  'Zoé 🐾',
  '\u0000',
  '\ud800',
  "' OR 1=1 --",
  '{{7*7}}',
  '<script>',
  'x'.repeat(3000),
  '\u202e',
];
const INTEGERS = '0 1 1 2 5 20 100 1e2 1.0 -1 9223372036854775807 -9223372036854775808'.split(' ');
const NUMBERS = [
  ...INTEGERS,
  ...'101 1.5 9223372036854775808 1e400 1e-400 00 0x10 NaN -0 null true'.split(' '),
  '9'.repeat(400),
];
const APIS = '/v1/pets /v1/pets /v1/pets /v1/pets /v1/pets /graphql /graphql /graphql'.split(' ');
const PATHS = [
  ...APIS,
  ...APIS,
  ...'/v1/pets/1 /v1/pets/ / /docs /metrics /readyz /livez /v1/openapi.json /v1 // /% /%ff /v1/pets/%00'.split(' '),
  ...'/v1/../etc/passwd /graphql/ /assets/x.js /v1/pets/1/2'.split(' '),
];
const QUERIES = 'limit limit status status after query variables operationName extensions __proto__ a[] %'.split(' ');
const JSON_TYPE = 'application/json';
const TYPES = [
  JSON_TYPE,
  `${JSON_TYPE}; charset=utf-16`,
  'APPLICATION/JSON',
  'text/plain',
  'application/graphql',
  '',
  ';',
];
const ACCEPTS = ['*/*', 'text/html', JSON_TYPE, 'application/graphql-response+json', ';;;', 'q='];
const MEMBERS = 'name categoryId status id __proto__ constructor input i'.split(' ');
const DOCUMENTS = [
  '{ pets { id name status categoryId } }',
  'query A { pets(limit: 5) { id } } query B { pet(id: 1) { id } }',
  'mutation { addPet(input: {name: "a", categoryId: 1}) { id } }',
  'mutation M($i: NewPetInput!) { addPet(input: $i) { id } }',
  'query ($s: PetStatus) { pets(status: $s) { id } }',
  '{ __schema { types { name fields { name } } } }',
  'subscription { pets }',
  '{ pets { pets { pets } } }',
  '{ ...F } fragment F on Query { ...F }',
  '{',
  '',
  '{ pets(limit: -1) { id } }',
  '{ pet(id: "99999999999999999999") { id } }',
  `{ ${'a: pets { id } '.repeat(200)} }`,
  `{ pets ${'{ id '.repeat(500)} }`,
  `{ ${'@x '.repeat(2000)} }`,
  '{ pets @skip(if: true) { id } }',
];

/** Any JSON, right and wrong, as text: numbers keep every digit. */
function json(random: SeededRandom, depth = 0): string {
  switch (random.below(depth > 3 ? 4 : 7)) {
    case 0:
      return random.pick(NUMBERS);
    case 1:
      return JSON.stringify(random.pick(TEXTS));
    case 2:
      return random.pick(['true', 'false', 'null', '', 'undefined', '"\\ud800"', '"\\u00']);
    case 3:
      return JSON.stringify(random.pick(['available', 'pending', 'sold', 'SOLD', 'Available', 'lost']));
    case 4:
      return `[${Array.from({ length: random.below(4) }, () => json(random, depth + 1)).join(',')}]`;
    case 5:
      return '['.repeat(random.below(5000));
    default:
      return object(random, MEMBERS, depth);
  }
}

function object(random: SeededRandom, names: readonly string[], depth: number): string {
  const members = Array.from(
    { length: random.below(5) },
    () => `${JSON.stringify(random.pick(names))}:${json(random, depth + 1)}`,
  );
  return `{${members.join(',')}}`;
}

/** An animal that may well be right. */
function animal(random: SeededRandom): string {
  const status = random.chance(0.5) ? `,"status":"${random.pick(['available', 'pending', 'sold'])}"` : '';
  return `{"name":${JSON.stringify(random.pick(TEXTS))},"categoryId":${random.pick(INTEGERS)}${status}}`;
}

function body(random: SeededRandom, path: string): string {
  if (random.chance(0.05))
    return String.fromCharCode(...Array.from({ length: random.below(300) }, () => random.below(256)));
  if (random.chance(0.05)) return 'x'.repeat(60_000 + random.below(20_000));
  if (!path.startsWith('/graphql')) return random.chance(0.4) ? animal(random) : json(random);
  const query = random.chance(0.9) ? JSON.stringify(random.pick(DOCUMENTS)) : json(random);
  const variables = random.chance(0.4) ? `{"i":${animal(random)},"s":"SOLD"}` : json(random);
  const operationName = random.chance(0.7) ? 'null' : random.pick(['"A"', '"M"', '""', '5']);
  return `{"query":${query},"variables":${variables},"operationName":${operationName},"extensions":${random.chance(0.8) ? 'null' : json(random)}}`;
}

/** One generated request; `key` is the valid API key that most of them bring. */
export function generateRequest(random: SeededRandom, key: string): GeneratedRequest {
  const method = random.pick(METHODS);
  let path = random.pick(PATHS);
  if (random.chance(0.15)) path = `/v1/pets/${encodeURI(random.pick(NUMBERS))}`;
  if (random.chance(0.3)) {
    const parameters = Array.from({ length: 1 + random.below(3) }, () => {
      const value = random.pick([...NUMBERS, ...DOCUMENTS, ...TEXTS, 'available', 'sold']).toWellFormed();
      return `${random.pick(QUERIES)}=${random.chance(0.9) ? encodeURIComponent(value) : '%zz'}`;
    });
    path += `?${parameters.join('&')}`;
  }
  path = path.slice(0, 12_000); // beyond 16 kB of header the parser refuses and closes: the client may still be writing
  const headers: Record<string, string> = {};
  const sometimes = (name: string, values: readonly string[], probability = 0.1) => {
    if (random.chance(probability)) headers[name] = random.pick(values);
  };
  headers.authorization = `Bearer ${key}`;
  sometimes('authorization', ['', 'Bearer x', 'Basic eDp5', 'Bearer', `Bearer ${key}x`]);
  headers['content-type'] = JSON_TYPE;
  sometimes('content-type', TYPES, 0.2);
  sometimes('idempotency-key', ['a', 'b', 'c', 'x'.repeat(300), 'a b', '\u00e9'], 0.3);
  sometimes('accept', ACCEPTS, 0.3);
  sometimes('origin', ['null', 'http://a.example', '://', '*'], 0.2);
  sometimes('x-request-id', ['id-1', ' ', 'x'.repeat(2000)]);
  sometimes('content-encoding', ['gzip', 'br', 'identity', 'x'], 0.05);
  sometimes('if-none-match', ['*', '"x"', 'W/']);
  sometimes('access-control-request-method', ['POST', 'x y', '']);
  const takesBody = method !== 'GET' && method !== 'HEAD' && method !== 'TRACE';
  return { method, path, headers, body: takesBody || random.chance(0.1) ? body(random, path) : undefined };
}

/** The bytes of a request, damaged: cut, doubled, overwritten, or nothing but noise. */
export function generateBytes(random: SeededRandom, key: string): Buffer {
  if (random.chance(0.15)) return Buffer.from(Array.from({ length: 1 + random.below(2000) }, () => random.below(256)));
  const { method, path, headers, body: text } = generateRequest(random, key);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = text === undefined ? '' : `content-length: ${Buffer.byteLength(text)}\r\n`;
  let bytes = Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}${length}\r\n${text ?? ''}`,
    'latin1',
  );
  for (let damage = random.below(4); damage > 0; damage--) {
    const at = random.below(bytes.length);
    const damaged = [
      () => bytes.subarray(0, at),
      () => Buffer.concat([bytes, bytes]),
      () => Buffer.concat([bytes.subarray(0, at), Buffer.from([random.below(256)]), bytes.subarray(at)]),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(20))]),
      () =>
        Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(random.pick(['\r\n', '\n', '\0', 'transfer-encoding: chunked\r\n'])),
          bytes.subarray(at),
        ]),
    ];
    bytes = Buffer.from(random.pick(damaged)());
  }
  return bytes;
}
