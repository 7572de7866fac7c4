import { ALL, type Asked, getGraphql, list, NO_KEY, postGraphql, READ_ONLY } from './asked.ts';
import { composeDocuments } from './asked-composed.ts';

const INTROSPECTION = `query I { __schema { queryType { name } mutationType { name } types {
  kind name description fields(includeDeprecated: true) { name
  description isDeprecated deprecationReason args { name description
  defaultValue type { kind name ofType { kind name ofType { kind
  name } } } } type { kind name ofType { kind name ofType { kind
  name ofType { name } } } } } inputFields { name description defaultValue
  type { kind name ofType { name } } } enumValues(includeDeprecated:
  true) { name description } } directives { name description locations
  args { name } } } }`.replaceAll(/\n */g, ' ');
const deep = (depth: number) =>
  `{ __type(name: "Pet") { ${'fields { type { '.repeat(depth)}name${' } }'.repeat(depth)} } }`;
const many = (count: number, field: string) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ')} }`;

/** Documents that are sent as they stand. */
const DOCUMENTS = list`
  { pets ${ALL} } ¦ query { pets(limit: 3) ${ALL} } ¦ query Named { pets(limit: 1) { id } } ¦ { pet(id: 1) ${ALL} }
  { pet(id: "999999") ${ALL} } ¦ { __typename } ¦ mutation { __typename } ¦ subscription { x }
  subscription { __typename }
  { pets { id } pet(id: 2) { name } x: pets(limit: 2, status: SOLD) { status } __typename }
  { petsConnection(first: 2) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } } ¦ ${INTROSPECTION}
  { __type(name: "Pet") { name fields { name } } } ¦ { __type(name: "Nope") { name } }
  { a: __schema { types { name } } b: __schema { types { name } } } ¦ { __schema { a: types { name } } } ¦ ∅ ¦ ␣ ¦ #
  { ¦ } ¦ { pets ¦ { pets { id }␣ ¦ { pets { id } } } ¦ query { pets(limit: ) { id } } ¦ { pets(limit: 1 { id } }
  querry { pets { id } } ¦ { "x" } ¦ { pets(status: "\x") { id } } ¦ ${'\ufeff'}{ __typename } ¦ { pets { id } } # end
  { é } ¦ null ¦ { pets { ...F } } ¦ fragment F on Pet { id } ¦ { pets { ...F } } fragment F on Pet { id ...F }
  { pets { ...F } } fragment F on Nope { id } ¦ { pets { ... on Query { __typename } } }
  { pets { id } } fragment F on Pet { id } ¦ { nope } ¦ { pets(nope: 1) { id } } ¦ { pets }
  { pets { id } pets(limit: 2) { id } } ¦ { pet { id } } ¦ { pet(id: 1) } ¦ { pets @nope { id } }
  { pets @skip { id } } ¦ { pets @skip(if: true) { id } } ¦ { pets @skip(if: true) @skip(if: true) { id } }
  { Pets { id } } ¦ { pets { nam } } ¦ query A($x: Int) { pets { id } } ¦ query A { pets(limit: $x) { id } }
  query A($x: String) { pets(limit: $x) { id } } ¦ query A($x: Nope) { pets { id } }
  query A($x: Int, $x: Int) { pets(limit: $x) { id } } ¦ query A($x: Int! = 3) { pets(limit: $x) { id } }
  query A($x: Int = 101) { pets(limit: $x) { id } } ¦ query A($x: Int = "1") { pets(limit: $x) { id } }
  query A { __typename } query A { __typename } ¦ { __typename } query B { __typename } ¦ type X { y: Int }
  extend type Query { y: Int } ¦ { pets { id } } type X { y: Int } ¦ { pets @defer { id } } ¦ { pets @stream { id } }
  ${many(30, '__typename')} ¦ ${many(31, '__typename')} ¦ ${many(5, 'pets(limit: 100) { id name categoryId status }')}
  ${many(6, 'pets(limit: 100) { id }')} ¦ ${many(5, 'pets(limit: 100) { id name categoryId status x: id }')}
  ${many(400, 'pet(id: 1) { id }')} ¦ { ${'__typename '.repeat(999)}} ¦ { ${'__typename '.repeat(997)}}
  # ${'c'.repeat(64_000)}⏎{ __typename } ¦ # ${'c'.repeat(65_100)}⏎{ __typename } ¦ ${deep(1)} ¦ ${deep(4)}
  ${deep(9)} ¦ { ${'... { '.repeat(300)}__typename${' }'.repeat(300)} }
  { pets(status: ${'['.repeat(400)}${']'.repeat(400)}) { id } }
  mutation { addPet(input: { name: "M", categoryId: 5, status: SOLD }) ${ALL} }
  mutation { a: addPet(input: { name: "1", categoryId: 1 }) ${ALL} b: addPet(input: { name: "2", categoryId: "2" }) ${ALL} }
  mutation { addPet(input: { name: "M" }) { id } } ¦ mutation { addPet { id } }
  mutation { addPet(input: {}) { id } } ¦ mutation { addPet(input: { name: "M", categoryId: 1, x: 1 }) { id } }
  mutation { addPet(input: { name: "M", categoryId: 1 }) }
  mutation { a: addPet(input: { name: "\ud83d", categoryId: 1 }) { id } b: addPet(input: { name: "b", categoryId: "x" }) { id } c: addPet(input: { name: "c", categoryId: 1 }) { id } }
  mutation { pets { id } } ¦ { addPet(input: { name: "M", categoryId: 1 }) { id } }
  mutation { addPet(input: { name: "M", categoryId: 1 }) @skip(if: true) { id } }`;

const ADD = `mutation Add($input: NewPetInput!) { addPet(input: $input) ${ALL} }`;
const INPUTS = list`
  {"name":"V","categoryId":"7"} ¦ {"name":"V","categoryId":7,"status":"SOLD"}
  {"name":"V","categoryId":9007199254740993} ¦ {"name":"V","categoryId":9223372036854775808}
  {"name":"V","categoryId":1.0} ¦ {"name":"V","categoryId":1e2} ¦ {"name":"V","categoryId":1.5}
  {"name":"\ud83d","categoryId":1} ¦ {"name":1,"categoryId":1} ¦ {"name":null,"categoryId":1} ¦ {"name":"V"} ¦ {}
  null ¦ 1 ¦ [] ¦ {"name":"V","categoryId":1,"x":1} ¦ {"name":"V","categoryId":1,"status":"sold"}
  {"name":"V","categoryId":true} ¦ {"name":"V","categoryId":"","status":null}`;
const BODIES = list`
  ∅ ¦ { ¦ null ¦ 1 ¦ "{ __typename }" ¦ [] ¦ [{"query":"{ __typename }"}] ¦ {} ¦ {"query":null} ¦ {"query":1}
  {"query":["x"]} ¦ {"query":"{ __typename }","variables":[]} ¦ {"query":"{ __typename }","variables":"{}"}
  {"query":"{ __typename }","variables":null,"operationName":null,"extensions":null}
  {"query":"{ __typename }","extensions":1} ¦ {"query":"{ __typename }","extensions":[]}
  {"query":"{ __typename }","operationName":1} ¦ {"query":"{ __typename }","x":1}
  {"query":"{ __typename }","query":"{ nope }"} ¦ {"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}
  {"query":"{ __typename }","extensions":{"persistedQuery":{"version":1}}}
  {"variables":{"a":1e400},"query":"{ __typename }"} ¦ {"id":"x"}
  {"query":"{ __typename }","x":"${'x'.repeat(66_000)}"} ¦ { __typename } ¦ query={__typename}`;
const ACCEPTS = list`
  ∅ ¦ */* ¦ application/json ¦ application/graphql-response+json
  application/graphql-response+json;q=0.5, application/json ¦ text/html ¦ text/html, application/json;q=0.9
  text/event-stream ¦ multipart/mixed ¦ image/png ¦ application/* ¦ application/json;charset=latin1 ¦ x`;
const TYPES = list`
  ∅ ¦ application/json; charset=utf-8 ¦ text/plain ¦ application/graphql ¦ application/x-www-form-urlencoded
  multipart/form-data; boundary=x ¦ application/graphql-response+json`;

const asBody = (body: Readonly<Record<string, unknown>>) => JSON.stringify(body);

/** All requests to GraphQL: the same ones each time. */
export function askGraphql(): readonly Asked[] {
  const three = 'query A { __typename } query B { pets(limit: 1) { id } } mutation C { __typename }';
  const failing = list`
  { nope } ¦ { ¦ { pets(limit: 1) ${ALL} } ¦ { pets(limit: 0) { id } } ¦ { pet(id: "x") { id } }`;
  return [
    ...DOCUMENTS.flatMap((query) => [
      postGraphql(asBody({ query })),
      getGraphql({ query }),
      postGraphql(asBody({ query }), { Accept: 'application/graphql-response+json' }),
      postGraphql(asBody({ query }), READ_ONLY, 'graphql read-only'),
    ]),
    ...['A', 'B', 'C', 'D', '', 'a'].flatMap((operationName) => [
      postGraphql(asBody({ query: three, operationName })),
      getGraphql({ query: three, operationName }),
      getGraphql({ query: '{ __typename }', operationName }),
    ]),
    ...BODIES.map((body) => postGraphql(body)),
    ...BODIES.slice(0, 8).map((body) => postGraphql(body, NO_KEY)),
    ...ACCEPTS.flatMap((Accept) => [
      ...failing.flatMap((query) => [
        postGraphql(asBody({ query }), { Accept }, 'graphql accept'),
        getGraphql({ query }, { Accept }),
      ]),
      postGraphql('{', { Accept }),
      postGraphql('{}', { Accept, ...NO_KEY }),
    ]),
    ...TYPES.map((type) => postGraphql(asBody({ query: '{ __typename }' }), { 'Content-Type': type })),
    ...INPUTS.flatMap((input) => {
      const body = `{"query":${JSON.stringify(ADD)},"variables":{"input":${input}}}`;
      return [
        postGraphql(body),
        postGraphql(body, READ_ONLY, 'graphql read-only'),
        ...['g', 'h i', `g${input.length}`, `g${input.length}`].map((key) =>
          postGraphql(body, { 'Idempotency-Key': key }, 'graphql idempotency'),
        ),
      ];
    }),
    ...['{}', '{"n":1}', 'null', '[]', 'x', '', '{"n":9007199254740993}', '{"n":"1"}'].map((variables) =>
      getGraphql({ query: 'query V($n: Int) { pets(limit: $n) { id } }', variables }),
    ),
    ...['{}', 'null', '[]', '{', '{"persistedQuery":{}}'].map((extensions) =>
      getGraphql({ query: '{ __typename }', extensions }),
    ),
    getGraphql({}),
    getGraphql({ query: '' }),
    getGraphql({ extensions: '{"persistedQuery":{"version":1}}' }),
    getGraphql({ query: ADD, variables: `{"input":${INPUTS[0]}}` }),
    { ...getGraphql({}), target: '/graphql?query={__typename}&query={nope}' },
    { ...getGraphql({}), target: '/graphql?query=%zz' },
    ...composeDocuments(),
  ];
}
