import { beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/gateway/graphql/limits.ts';
import { leastCpuTimes } from '../support/cpu-time.ts';
import { SQLITE } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { serveEndpoint } from './endpoint-alone.ts';

/** Nothing that anybody sends may hold the process for longer, in ms. */
const HELD_MAX_MS = 250;

const many = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

/** All leaves of a type, the fields and arguments of it, and what else it has lists of. */
const lists = (inner: string) => `kind name description enumValues { name description }
  fields { name description args { name description type { ${inner} } } type { ${inner} } }
  inputFields { name description type { ${inner} } } interfaces { ${inner} } possibleTypes { ${inner} }`;

/** As many lists within lists as graphql-js lets through, at each of the wrappers of a type. */
const WIDEST = `
  fragment Outer on __Type { ${lists('...Wrapped')} }
  fragment Wrapped on __Type { ...Inner ofType { ...Inner ofType { ...Inner ofType { ...Inner } } } }
  fragment Inner on __Type { ${lists('...Named')} }
  fragment Named on __Type { kind name description ofType { kind name ofType { kind name ofType { kind name } } } }`;

const byAliases = (count: number) => many(count, (n) => `a${n}: __type(name: "__Type") { ...Outer }`);

/** The largest introspections that are allowed. */
const LARGEST: Record<string, string> = {
  'of the schema': `{ __schema { types { ...Outer } } } ${WIDEST}`,
  'of the schema, and of a type under every alias': `{ __schema { types { ...Outer } } ${byAliases(LIMITS.aliases.max)} } ${WIDEST}`,
};

describe('introspection', () => {
  let url: string;
  const gateway = gatewayOf(SQLITE, { LOG_LEVEL: 'silent' });
  beforeAll(async () => {
    url = await serveEndpoint(gateway);
  });
  const ask = async (query: string, variables = {}) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    return response.text();
  };

  test.each(Object.entries(LARGEST))('the largest %s holds nobody for 250 ms', async (_what, query) => {
    expect((await ask(query)).slice(0, 9)).toBe('{"data":{');
    const holds = ([time = 0]: readonly number[]) => time < HELD_MAX_MS;
    const [time = 0] = await leastCpuTimes([() => ask(query)], holds);
    expect(time).toBeLessThan(HELD_MAX_MS);
  });

  test('of errors that multiply by lists and aliases a hundred are told, then one for each alias', async () => {
    const failing = WIDEST.replace('Named on __Type {', '$& enumValues(includeDeprecated: $no) { name }');
    const query = `query ($no: Boolean = false) { ${byAliases(20)} } ${failing}`;
    const { data, errors } = JSON.parse(await ask(query, { no: null }));
    expect(data).toMatchObject({ a0: { name: '__Type' }, a19: null });
    expect(errors.length).toBeLessThanOrEqual(100 + 20);
  });

  test('what is asked of the schema in several places is one answer', async () => {
    const query = '{ __schema { queryType { name } } ... { __schema { mutationType { name } } } }';
    expect(await ask(query)).toBe(
      '{"data":{"__schema":{"queryType":{"name":"Query"},"mutationType":{"name":"Mutation"}}}}',
    );
  });
});
