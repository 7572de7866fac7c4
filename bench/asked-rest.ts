import { createRandom } from '../test/support/random.ts';
import { type Asked, type Headers, JSON_TYPE, list, NEW_PET, NO_KEY, READ_ONLY } from './asked.ts';

const WORDS = ['available', 'pending', 'sold'];
const INT64 = ['9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809'];
const BAD = list`
  ∅ ¦ abc ¦ NaN ¦ null ¦ 1.0 ¦ 1e2 ¦ +5 ¦ -1 ¦ %20 ¦ %zz ¦ %00 ¦ 0x10 ¦ 007 ¦ 1,2 ¦ %F0%9F%90`;
const LIMITS = ['1', '2', '20', '99', '100', '0', '101', '%35', '5%20', '99999999999999999999', '%D9%A3', ...BAD];
const STATUSES = [...WORDS, 'SOLD', 'Sold', '%73old', 'sold%20', 'sold,pending', '%E5%B0%8F%E7%99%BD', ...BAD];
const AFTERS = [...list`0 ¦ 1 ¦ 50 ¦ 100 ¦ 180 ¦ 199 ¦ 200 ¦ 201 ¦ 9007199254740993 ¦ %31 ¦ 01`, ...INT64, ...BAD];
const OTHERS = list`
  ∅ ¦ = ¦ % ¦ x=1 ¦ Limit=5 ¦ limit[]=5 ¦ limit ¦ status ¦ after ¦ first=5 ¦ __proto__=1 ¦ %6Cimit=3`;
const IDS = [
  ...AFTERS,
  ...list`1/ ¦ 1/2 ¦ -0 ¦ +1 ¦ 1%2F2 ¦ 1?x=1 ¦ 1;v=2 ¦ %C3%A9 ¦ <full> ¦ .. ¦ 1%00 ¦ ${'a'.repeat(300)}`,
];

/** Texts of JSON values for each property of a new animal. */
const NAMES = list`
  "Rex" ¦ "" ¦ "小白 \u00e9 \"q\" \\" ¦ "\ud83d\udc36" ¦ "\ud83d" ¦ "a\u0000b" ¦ " x\n\t" ¦ "<b>&\u2028"
  "${'n'.repeat(255)}" ¦ "${'é'.repeat(3000)}" ¦ null ¦ 1 ¦ true ¦ {} ¦ ["Rex"]`;
const CATEGORIES = [
  ...list`
  1 ¦ 0 ¦ -1 ¦ 1.0 ¦ 1e2 ¦ 1E+2 ¦ 100e-2 ¦ 1.5 ¦ 1e-1 ¦ 1e400 ¦ -1e400 ¦ -0 ¦ -0.0 ¦ 9007199254740993
  9007199254740993.0 ¦ 9.223372036854775807e18 ¦ 9223372036854775807.0 ¦ "1" ¦ true ¦ null ¦ [1] ¦ {"a":1}
  1${'0'.repeat(400)} ¦ 1.${'0'.repeat(400)} ¦ 1e99999999999`,
  ...INT64,
];
const STATUS_VALUES = [
  ...list`
  "SOLD" ¦ "" ¦ null ¦ 1 ¦ [] ¦ {} ¦ "sold " ¦ false`,
  ...WORDS.map((word) => `"${word}"`),
];
const BODIES = list`
  ∅ ¦ ␣ ¦ { ¦ } ¦ [] ¦ null ¦ 1 ¦ "x" ¦ true ¦ {} ¦ {"name":"a"} ¦ {"categoryId":1}
  [{"name":"a","categoryId":1}] ¦ {"name":"a","categoryId":1,} ¦ {"name":"a" "categoryId":1} ¦ {'name':'a'}
  {"name":"a","categoryId":01} ¦ {"name":"a","categoryId":1}x ¦ {"name":"a","name":"b","categoryId":1}
  {"name":"a","categoryId":1,"id":7,"x":{"y":[1,null]}}
  {"name":"a","categoryId":1,"__proto__":{"status":"sold"}} ¦ {"name":"a⏎b","categoryId":1}
  ${'\ufeff'}{"name":"bom","categoryId":1} ¦ ${'['.repeat(5000)} ¦ ${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}
  {"name":"${'x'.repeat(65_480)}","categoryId":1} ¦ {"name":"${'x'.repeat(65_600)}","categoryId":1}
  name=a&categoryId=1`;
const TYPES = list`
  ∅ ¦ application/json ¦ application/json;charset=utf-8 ¦ APPLICATION/JSON ; x=y
  application/json; charset=latin1 ¦ text/plain ¦ application/jsonx ¦ application/merge-patch+json
  application/x-www-form-urlencoded ¦ application/json, text/plain`;
const IDEMPOTENCY_KEYS = ['a', 'A', 'b c', 'é', 'k'.repeat(255), 'k'.repeat(256), '"quoted"', 'x,y', '~!#$', '<full>'];

/** Requests to the three operations. */
export function askOperations(): readonly Asked[] {
  return [...lists(), ...creates(), ...gets()];
}

function lists(): Asked[] {
  const random = createRandom(1);
  const ask = (query: string, headers?: Headers): Asked => ({
    kind: 'list',
    target: `/v1/pets${query}`,
    ...(headers && { headers }),
  });
  const single = Object.entries({ limit: LIMITS, status: STATUSES, after: AFTERS });
  const pairs = single.flatMap(([name, values]) => values.map((value) => `${name}=${value}`));
  const mixed = Array.from({ length: 450 }, () => {
    const valid = ['limit=5', 'limit=100', 'status=sold', 'after=17', 'status=available', 'after=150'];
    const parts = Array.from({ length: random.below(5) }, () =>
      random.pick(random.pick([pairs, valid, valid, OTHERS])),
    );
    return { ...ask(`?${parts.join('&')}`), method: random.chance(0.15) ? 'HEAD' : 'GET' };
  });
  const walk = Array.from({ length: 40 }, (_, index) =>
    ask(`?limit=${(index % 9) * 7 + 1}&after=${index * 5}&x=y&status=${WORDS[index % 3]}`),
  );
  const hosts = ['pets.example:8080', '[::1]:4000', 'PETS.example', '127.0.0.1'].map((Host) =>
    ask('?limit=2', { Host }),
  );
  const proxied = ask('?limit=2', {
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'outside.example',
    'X-Forwarded-For': '1.2.3.4',
  });
  const ids = ['mine-1', 'with space', 'é', 'x'.repeat(128), 'x'.repeat(129), '<full>'].map((id) =>
    ask('?limit=1', { 'X-Request-Id': id }),
  );
  return [
    ask(''),
    ask('?'),
    ...[...pairs, ...OTHERS].map((pair) => ask(`?${pair}`)),
    ...mixed,
    ...walk,
    ...hosts,
    proxied,
    ...ids,
  ];
}

function creates(): Asked[] {
  const random = createRandom(2);
  const ask = (body: string | Buffer, headers: Headers = {}, kind = 'create'): Asked => ({
    kind,
    method: 'POST',
    target: '/v1/pets',
    body,
    headers: { ...JSON_TYPE, ...headers },
  });
  const object = (name: string, categoryId: string, status?: string) => {
    const members = [
      `"name":${name}`,
      `"categoryId":${categoryId}`,
      ...(status === undefined ? [] : [`"status":${status}`]),
    ];
    return `{${(random.chance(0.3) ? members.reverse() : members).join(random.chance(0.2) ? ' ,\n\t' : ',')}}`;
  };
  const each = [
    ...NAMES.map((name) => object(name, '1')),
    ...CATEGORIES.map((category) => object('"c"', category)),
    ...STATUS_VALUES.map((status) => object('"s"', '2', status)),
    ...Array.from({ length: 200 }, () =>
      object(random.pick(NAMES), random.pick(CATEGORIES), random.pick([undefined, ...STATUS_VALUES])),
    ),
  ];
  const bytes = [
    Buffer.from([0xff, 0xfe]),
    Buffer.from('{"name":"\xe9","categoryId":1}', 'latin1'),
    Buffer.from('{"name":"\xed\xa0\x80","categoryId":1}', 'latin1'),
  ];
  const repeated = Array.from({ length: 120 }, (_, index) =>
    ask(
      random.pick([
        NEW_PET,
        NEW_PET,
        '{"categoryId":1,"name":"Rex","status":"sold"}',
        '{"name":"other","categoryId":1.0}',
        '{"name":1}',
        '{',
      ]),
      {
        'Idempotency-Key': random.pick([`k${index % 20}`, 'one', 'two', ...IDEMPOTENCY_KEYS]),
        Authorization: `Bearer ${random.pick(['<full>', '<full>', '<rotated>', '<successor>', '<readonly>'])}`,
      },
      'idempotency',
    ),
  );
  return [
    ...[...each, ...BODIES, ...bytes].map((body) => ask(body)),
    ...TYPES.map((type) => ask(NEW_PET, { 'Content-Type': type })),
    ...['gzip', 'identity', 'br', ' ', 'IDENTITY'].map((coding) => ask(NEW_PET, { 'Content-Encoding': coding })),
    ...BODIES.slice(0, 12).map((body) => ask(body, READ_ONLY)),
    ...BODIES.slice(0, 12).map((body) => ask(body, NO_KEY)),
    ask(NEW_PET, { Expect: 'something' }),
    ask(`${NEW_PET.length.toString(16)}\r\n${NEW_PET}\r\n0\r\n\r\n`, { 'Transfer-Encoding': 'chunked' }),
    { ...ask(NEW_PET), target: '/v1/pets?limit=0&x=1' },
    { ...ask(''), headers: {} },
    ...repeated,
  ];
}

function gets(): Asked[] {
  return ['GET', 'HEAD'].flatMap((method) => IDS.map((id) => ({ kind: 'get', method, target: `/v1/pets/${id}` })));
}
