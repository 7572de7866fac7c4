import { type Asked, list, NEW_PET, NO_KEY } from './asked.ts';

const AUTHORIZATIONS = list`
  ∅ ¦ Bearer ¦ Bearer␣ ¦ bearer <full> ¦ BEARER  <full> ¦ Bearer <full>␣ ¦ Bearer <full>, ¦ Bearer <full>x
  Basic dTpw ¦ <full> ¦ Bearer x ¦ Bearer <unknown> ¦ Bearer <revoked> ¦ Bearer <expired> ¦ Bearer <readonly>
  Bearer <rotated> ¦ Bearer <successor> ¦ Bearer petstore_${'0'.repeat(38)} ¦ Token <full>`;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND'];
const PATHS = list`
  /v1/pets ¦ /v1/pets/1 ¦ /v1/pets/999999 ¦ /v1/openapi.json ¦ /v1 ¦ /v1/ ¦ /v1/pets/ ¦ /v1/Pets ¦ /V1/pets
  /v1/pet ¦ /v1//pets ¦ /v1/pets/1/ ¦ /v1/pets/1/x ¦ /v1/%70ets ¦ /v1/pets;a=b ¦ /v2/pets ¦ /pets ¦ /pet ¦ / ¦ //
  /docs ¦ /docs/ ¦ /Docs ¦ /doc ¦ /graphql ¦ /graphql/ ¦ /grapql ¦ /livez ¦ /livez/ ¦ /readyz ¦ /metrics
  /schema.graphql ¦ /favicon.ico ¦ /robots.txt ¦ /health ¦ /openapi.json ¦ /assets/
  /assets/0123456789ab/site.css ¦ /assets/../v1/pets ¦ /${'long'.repeat(60)} ¦ /v1/petstore_secret ¦ /<full> ¦ /%
  /%00 ¦ /é`;
const ASKING = {
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,content-type',
};
const ORIGINS = ['https://pets.example', 'https://a.example', 'null', 'x'];
const ENCODINGS = list`
  ∅ ¦ gzip ¦ br ¦ gzip;q=0 ¦ identity;q=0 ¦ *;q=0 ¦ br;q=0.1, gzip;q=0.9 ¦ deflate ¦ BR ¦ x-gzip ¦ gzip;q=abc ¦ *`;
const TAGS = ['*', 'W/"x"', '<etag>', '"x", <etag>', '"', '<etag>x'];

/** Requests to every path by every method, with and without a key, from browsers and by hand. */
export function askPlaces(): readonly Asked[] {
  return [...places(), ...keys(), ...origins(), ...pages(), ...strange()];
}

/** Every method at every path. */
function places(): Asked[] {
  return METHODS.flatMap((method) =>
    PATHS.flatMap((target) => {
      const asked = { kind: 'place', method, target };
      return method === 'GET' || target.startsWith('/v1') ? [asked, { ...asked, headers: NO_KEY }] : [asked];
    }),
  );
}

function keys(): Asked[] {
  const targets = list`
  /v1/pets?limit=1 ¦ /v1/pets/1 ¦ /v1/openapi.json ¦ /v1/none ¦ /graphql?query={__typename} ¦ /docs ¦ /livez`;
  const places = [...targets.map((target) => ({ method: 'GET', target })), { method: 'POST', target: '/v1/pets' }];
  return AUTHORIZATIONS.flatMap((Authorization) =>
    places.map((place) => ({ kind: 'key', ...place, headers: { Authorization } })),
  );
}

function origins(): Asked[] {
  const targets = ['/v1/pets', '/v1/pets/1', '/v1/none', '/graphql', '/docs', '/none', '/v1/openapi.json'];
  return targets.flatMap((target) =>
    ORIGINS.flatMap((Origin) => [
      { kind: 'cors', target, headers: { Origin } },
      { kind: 'cors', target, headers: { Origin, ...NO_KEY } },
      { kind: 'cors', method: 'OPTIONS', target, headers: { Origin, ...ASKING, ...NO_KEY } },
      { kind: 'cors', method: 'OPTIONS', target, headers: { Origin, ...NO_KEY } },
    ]),
  );
}

function pages(): Asked[] {
  const targets = [
    ...list`
  / ¦ /docs ¦ /graphql ¦ /v1/openapi.json ¦ /livez ¦ /readyz ¦ /schema.graphql`,
    ...Array.from({ length: 20 }, (_, index) => `/<asset${index}>`),
  ];
  const accepts = list`
  text/html ¦ application/json ¦ */* ¦ text/html;q=0 ¦ text/html,application/xhtml+xml;q=0.9,*/*;q=0.8 ¦ image/png
  x`;
  return targets.flatMap((target) => [
    ...ENCODINGS.map((encoding) => ({
      kind: 'page',
      target,
      headers: { ...NO_KEY, Accept: 'text/html', 'Accept-Encoding': encoding },
    })),
    ...TAGS.map((tag) => ({ kind: 'page', target, headers: { ...NO_KEY, Accept: 'text/html', 'If-None-Match': tag } })),
    ...accepts.flatMap((Accept) => [
      { kind: 'page', target, headers: { Accept } },
      { kind: 'page', method: 'HEAD', target, headers: { Accept, ...NO_KEY } },
    ]),
  ]);
}

/** What no client library sends. */
function strange(): Asked[] {
  const key = 'Authorization: Bearer <full>';
  const host = 'Host: pets.example\r\n';
  const end = 'Connection: close\r\n\r\n';
  const page = '/v1/pets?limit=1';
  const one = `GET ${page} HTTP/1.1\r\n${host}${key}\r\n`;
  const post = `POST /v1/pets HTTP/1.1\r\n${host}${key}\r\nContent-Type: application/json\r\n`;
  const heads = list`
  get ${page} HTTP/1.1 ¦ GET ${page} HTTP/1.0 ¦ GET ${page} HTTP/2.0 ¦ GET ${page} HTTP/1.9 ¦ GET ${page}
  GET http://else.example${page} HTTP/1.1 ¦ GET http://u@else.example/ HTTP/1.1 ¦ GET ftp://else.example/ HTTP/1.1
  OPTIONS * HTTP/1.1 ¦ GET * HTTP/1.1 ¦ GET pets HTTP/1.1 ¦ CONNECT a:1 HTTP/1.1 ¦ GET /v1/pets#x HTTP/1.1
  GET /v1/p ets HTTP/1.1 ¦ G${'\u0001'}T / HTTP/1.1 ¦ BREW / HTTP/1.1 ¦ GET /${'a'.repeat(20_000)} HTTP/1.1`;
  const hosts = list`
  ∅ ¦ Host:␍ ¦ Host: a b␍ ¦ Host: a␍Host: b␍ ¦ Host: a:99999␍ ¦ Host: u@a␍ ¦ Host: [::1␍ ¦ Host: a/b␍`;
  const fields = list`
  ${key} ¦ Bad Header: x ¦ X-A: b␍ c ¦ X-A: ${'b'.repeat(20_000)} ¦ Content-Length: x ¦ Expect: 100-continue
  Upgrade: websocket␍Connection: Upgrade ¦ Idempotency-Key: a␍Idempotency-Key: b ¦ traceparent: x`;
  const ofBody = list`
  Content-Length: 5␍Content-Length: 6 ¦ Transfer-Encoding: chunked␍Content-Length: 5 ¦ Transfer-Encoding: gzip
  Content-Type: text/plain␍Content-Length: 2`;
  const pet = `Content-Length: ${NEW_PET.length}\r\n${end}${NEW_PET}`;
  const raws = [
    ...heads.map((head) => `${head}\r\n${host}${key}\r\n${end}`),
    ...hosts.map((field) => `GET ${page} HTTP/1.1\r\n${field}${key}\r\n${end}`),
    ...hosts.map((field) => `HEAD ${page} HTTP/1.1\r\n${field}${key}\r\n${end}`),
    ...fields.map((field) => `${one}${field}\r\n${end}`),
    ...ofBody.map((field) => `${post}${field}\r\n${end}{}`),
    `${post}Expect: 100-continue\r\n${pet}`,
    `${post}Idempotency-Key: x\r\nIdempotency-Key: y\r\n${pet}`,
    `${post}Transfer-Encoding: chunked\r\n${end}zz\r\n`,
    `${one}\r\n${one}\r\n${one}${end}`,
    `${one}\r\nnonsense\r\n\r\n`,
  ];
  return raws.map((raw) => ({ kind: 'strange', target: '', raw }));
}
