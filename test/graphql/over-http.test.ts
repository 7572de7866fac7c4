import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { send, sendRaw } from '../support/client.ts';
import { SQLITE } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';

const QUERY = '{"query":"{ pets { id } }"}';
const JSON_TYPE = { 'content-type': 'application/json' };

describe('GraphQL over HTTP', () => {
  const gateway = gatewayOf(SQLITE);
  const post = (body: BodyInit, headers?: Record<string, string>) =>
    gateway.request('/graphql', { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } });
  /** The answer to a POST without an Accept, which fetch always sends. */
  const postRaw = (host: string, body: string) => {
    const ours = `Connection: close\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json`;
    const head = `POST /graphql HTTP/1.1\r\nHost: ${host}\r\n${ours}\r\nContent-Length: ${body.length}`;
    return sendRaw(gateway.port, `${head}\r\n\r\n${body}`);
  };

  // https://github.com/graphql/graphql-http: the specification as a list
  const audits = serverAudits({
    url: () => `${gateway.url}/graphql`,
    fetchFn: (url: string, init?: RequestInit) =>
      fetch(url, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), authorization: `Bearer ${gateway.key}` },
      }),
  });
  test.each(audits.map((audit) => [`${audit.id} ${audit.name}`, audit] as const))(
    'audit of graphql-http: %s',
    async (_name, audit) => {
      expect(await audit.fn()).toMatchObject({ status: 'ok' });
    },
  );

  test.each([
    ['variables[limit]=1', 'variables takes one value, without brackets.'],
    ['variables%5Blimit%5D=1', 'variables takes one value, without brackets.'],
    ['variables={"limit":1}&variables={"limit":2}', 'variables was given twice.'],
    ['query={pets{name}}', 'query was given twice.'],
    ['operationName[]=a', 'operationName takes one value, without brackets.'],
  ])('GET with %s besides is 400: a part of it would be answered as if it were all', async (sent, message) => {
    const document = 'query=query a($limit:Int!=3){pets(limit:$limit){id}}';
    const answer = await gateway.request(`/graphql?${document}&${sent}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
    expect((await gateway.request(`/graphql?${document}&unknown[]=1&unknown[]=2`)).status).toBe(200);
  });

  describe('a key is needed for everything', () => {
    test.each([
      ['a query', { method: 'POST', body: QUERY, headers: JSON_TYPE }],
      [
        'introspection',
        { method: 'POST', body: '{"query":"{ __schema { queryType { name } } }"}', headers: JSON_TYPE },
      ],
      ['a query over GET', { method: 'GET' }],
      ['a wrong method', { method: 'PUT' }],
    ])('%s without one is 401 UNAUTHENTICATED', async (_what, init) => {
      const answer = await send(`${gateway.url}/graphql?query={pets{id}}`, init);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="petstore"');
      expect(answer.json).toEqual({
        errors: [{ message: expect.any(String), extensions: { code: 'UNAUTHENTICATED' } }],
      });
    });

    test('a wrong one is 401 with error="invalid_token"', async () => {
      const headers = { ...JSON_TYPE, authorization: 'Bearer nonsense' };
      const answer = await send(`${gateway.url}/graphql`, { method: 'POST', body: QUERY, headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });
  });

  // Valid by RFC 3986, and no part of a URL as browsers know it
  test.each(['999.999.999.999', 'a%20b', '1.2.3.4.5'])('an error is answered at the Host %s, too', async (host) => {
    const text = await postRaw(host, '{"query":"{ nothing }"}');
    expect(text).toMatch(/^HTTP\/1.1 200 /);
    expect(text).toContain('GRAPHQL_VALIDATION_FAILED');
  });

  describe('only JSON bodies', () => {
    test.each([
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      'application/graphql',
      '',
    ])('Content-Type "%s" is 415', async (type) => {
      const answer = await gateway.request('/graphql', {
        method: 'POST',
        body: new TextEncoder().encode(QUERY),
        headers: type ? { 'content-type': type } : {},
      });
      expect([answer.status, answer.headers.get('accept')]).toEqual([415, 'application/json']);
      expect(answer.json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    });

    test.each([
      ['a batch', `[${QUERY}]`],
      ['a query that is null', '{"query":null}'],
      ['a query that is a number no double holds', '{"query":1e400}'],
      ['extensions that are a number no double holds', '{"query":"{ pets { id } }","extensions":1e400}'],
      ['variables that are such a number', '{"query":"{ pets { id } }","variables":1e400}'],
      ['a persisted query that is null', '{"extensions":{"persistedQuery":null}}'],
      ['variables that are a list', '{"query":"{ pets { id } }","variables":[]}'],
    ])('%s is 400 BAD_USER_INPUT', async (_what, body) => {
      const answer = await post(body);
      expect(answer.status).toBe(400);
      expect(answer.json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    });

    test.each([
      ['a batch', `[${QUERY}]`, 'The body must be a JSON object.'],
      ['@defer', '{"query":"{ ... @defer { pets { id } } }"}', 'Unknown directive "@defer".'],
    ])('one operation a request: %s is refused', async (_what, body, message) => {
      expect((await post(body)).json.errors).toMatchObject([{ message }]);
    });

    // GraphQL over HTTP §5: clients may send more than is asked for.
    test.each([
      ['members that nobody knows', { id: 1, doc_id: 'x', __proto: {} }],
      ['an empty operation name', { operationName: '' }],
      ['null for all that is optional', { operationName: null, variables: null, extensions: null }],
      ['a hash beside the document', { extensions: { persistedQuery: { version: 1, sha256Hash: 'abc' } } }],
    ])('%s: the document runs', async (_what, members) => {
      const body = JSON.stringify({ query: 'query A { pets { id } }', ...members });
      const answer = await post(body);
      expect([answer.status, answer.text]).toEqual([200, '{"data":{"pets":[]}}']);
    });

    test('a hash instead of the document gets the message that makes clients send the document', async () => {
      const extensions = { persistedQuery: { version: 1, sha256Hash: 'abc' } };
      const body = JSON.stringify({ operationName: 'A', variables: {}, extensions });
      const byPost = await post(body);
      const byGet = await gateway.request(`/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`);
      for (const { status, json } of [byPost, byGet]) {
        expect([status, json]).toEqual([
          400,
          {
            errors: [{ message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }],
          },
        ]);
      }
    });

    // GraphQL over HTTP, "Operation cannot be determined": 200 as application/json, else 400.
    test.each([
      [
        'query A { __typename } query B { __typename }',
        undefined,
        'The document has 2 operations (A, B): name one in operationName.',
      ],
      ['query A { __typename }', 'B', 'The document has no operation "B"; it has A.'],
      ['fragment F on Pet { id }', undefined, 'The document has no operation.'],
      // It would change the direction of what follows.
      ['query A { pets { id } }', '\u202ea', 'The document has no operation "\ufffda"; it has A.'],
    ])('%s with the name %s: %s', async (query, operationName, message) => {
      const body = JSON.stringify({ query, operationName });
      for (const [accept, status] of [
        ['application/json', 200],
        ['application/graphql-response+json', 400],
      ] as const) {
        const answer = await post(body, { accept });
        const errors = [{ message, extensions: { code: 'BAD_USER_INPUT' } }];
        expect([answer.status, answer.json]).toEqual([status, { errors }]);
      }
    });

    test('a body over BODY_LIMIT is 413', async () => {
      const answer = await gateway.graphql(`{ pets { id } } # ${'x'.repeat(70_000)}`);
      expect(answer.status).toBe(413);
      expect(answer.json.errors[0].extensions.code).toBe('PAYLOAD_TOO_LARGE');
    });
  });

  describe('methods', () => {
    test.each(['GET', 'HEAD'])('a mutation over %s is 405 with Allow, and nothing is added', async (method) => {
      const query = encodeURIComponent('mutation { addPet(input: { name: "by GET", categoryId: 1 }) { id } }');
      const answer = await gateway.request(`/graphql?query=${query}`, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
      if (method === 'GET') expect(answer.json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect((await gateway.request('/v1/pets')).text).not.toContain('by GET');
    });

    // RFC 9110 §9.1, §9.3.2
    test.each(['query={__typename}', 'query={nothing}', 'query={', ''])(
      'HEAD with "%s" is GET without a body',
      async (sent) => {
        const get = await gateway.request(`/graphql?${sent}`);
        const head = await gateway.request(`/graphql?${sent}`, { method: 'HEAD' });
        expect([head.status, head.text]).toEqual([get.status, '']);
        const lasting = ({ headers }: typeof get) =>
          [...headers].filter(([name]) => !['date', 'x-request-id', 'connection', 'keep-alive'].includes(name));
        expect(lasting(head)).toEqual(lasting(get));
      },
    );

    test('GET takes the operation name, and variables with all their digits', async () => {
      const query = encodeURIComponent('query A { __typename } query B($after: ID) { pets(after: $after) { id } }');
      const path = `/graphql?query=${query}&operationName=B&variables={"after":9223372036854775807}`;
      expect((await gateway.request(path)).text).toBe('{"data":{"pets":[]}}');
    });

    test.each(['variables=', 'variables=null', 'extensions=', 'extensions=null', 'operationName='])(
      'GET with %s has none',
      async (parameter) => {
        expect((await gateway.request(`/graphql?query={__typename}&${parameter}`)).text).toBe(
          '{"data":{"__typename":"Query"}}',
        );
      },
    );

    test.each([
      '',
      'query={__typename}&variables=x',
      'query={__typename}&variables=[]',
      'query={__typename}&extensions=1',
    ])('GET with "%s" is 400', async (parameters) => {
      const answer = await gateway.request(`/graphql?${parameters}`);
      expect([answer.status, answer.json.errors[0].extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
    });

    test.each(['PUT', 'PATCH', 'DELETE'])('%s is 405 with Allow', async (method) => {
      const answer = await gateway.request('/graphql', { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
      expect(answer.json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    });
  });

  describe('Accept', () => {
    const JSON_ANSWER = 'application/json';
    const GRAPHQL_ANSWER = 'application/graphql-response+json';

    test.each([
      [JSON_ANSWER, JSON_ANSWER],
      [GRAPHQL_ANSWER, GRAPHQL_ANSWER],
      ['application/json;q=0.5, application/graphql-response+json', GRAPHQL_ANSWER],
      ['application/graphql-response+json;q=0.4, application/json;q=0.9', JSON_ANSWER],
      ['application/json;q=0, */*', GRAPHQL_ANSWER],
      ['*/*', JSON_ANSWER],
      ['application/*', JSON_ANSWER],
      ['', JSON_ANSWER],
      ['text/event-stream, application/json', JSON_ANSWER],
      // urql and Apollo Client
      [
        'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
        GRAPHQL_ANSWER,
      ],
      // Graffle, and the guides of Relay
      ['application/graphql-response+json; charset=utf-8, application/json; charset=utf-8', GRAPHQL_ANSWER],
      ['application/json; charset=utf-8', JSON_ANSWER],
    ])('%s gets %s', async (accept, type) => {
      const answer = await gateway.graphql('{ pets { id } }', {}, { accept });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    });

    test('none at all gets application/json', async () => {
      const answer = await postRaw('localhost', QUERY);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer.toLowerCase()).toContain('content-type: application/json; charset=utf-8\r\n');
    });

    test.each(['text/event-stream', 'multipart/mixed', 'text/html', 'image/png', 'application/json;q=0'])(
      '%s alone is disregarded',
      async (accept) => {
        const answer = await gateway.graphql('{ pets { id } }', {}, { accept });
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      },
    );
  });
});
