import fc from 'fast-check';
import { parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type GeneratedRequest, generatedRequest } from './documents.ts';
import { postGraphql } from './exact-json.ts';

const accept = fc.constantFrom('application/json', 'application/graphql-response+json', '*/*');

/** Whether the short way may take it, once it is known: one operation with one root field, and no directives. */
function isShort(query: string): boolean {
  const { definitions } = parse(query);
  const [operation] = definitions;
  const roots = operation?.kind === 'OperationDefinition' ? operation.selectionSet.selections : [];
  const [root] = roots;
  return roots.length === 1 && root?.kind === 'Field' && root.selectionSet !== undefined && !/@/.test(query);
}

describeEachEngine('a known operation is answered as Yoga answers one it has never seen', (engine) => {
  let gateway: TestGateway;
  let texts = 0;
  beforeAll(async () => {
    gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
    for (let index = 0; index < 6; index++)
      await gateway.createPet({ name: `pet ${index}`, categoryId: index, status: index % 2 ? 'sold' : undefined });
  });

  /** All that a client can see, but for what differs with every request. */
  const ask = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await postGraphql(gateway, body, headers);
    const shown = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
    return { status: answer.status, headers: Object.fromEntries(shown), text: answer.text };
  };
  /** The text with a comment at its end: the same document, but nobody has seen it. */
  const unseen = (query: string) => `${query} # ${++texts}`;
  const teach = ({ query, fitting }: Pick<GeneratedRequest, 'query' | 'fitting'>) => ask({ query, variables: fitting });

  test('status, headers and body, for documents and variables of every kind', async () => {
    let short = 0;
    await fc.assert(
      fc.asyncProperty(generatedRequest, accept, async ({ query, variables, fitting, operationName }, accepted) => {
        const body = { variables, operationName };
        await teach({ query, fitting });
        const known = await ask({ ...body, query }, { accept: accepted });
        expect(known).toEqual(await ask({ ...body, query: unseen(query) }, { accept: accepted }));
        if (isShort(query)) short++;
      }),
      { numRuns: 250 },
    );
    expect(short).toBeGreaterThan(50);
  });

  test('retries under an Idempotency-Key, and those that it refuses', async () => {
    const fields = '{ id name categoryId status }';
    const query = `mutation ($input: NewPetInput!) { addPet(input: $input) ${fields} }`;
    await teach({ query, fitting: { input: { name: 'x', categoryId: 1 } } });
    for (const name of ['first', 'first', 'other']) {
      const body = { variables: { input: { name, categoryId: 1 } } };
      const headers = { 'idempotency-key': 'short-and-long' };
      if (name === 'first') await ask({ ...body, query }, headers);
      const known = await ask({ ...body, query }, headers);
      expect(known).toEqual(await ask({ ...body, query: unseen(query) }, headers));
      expect(known.headers['idempotency-replayed']).toBe(name === 'first' ? 'true' : undefined);
    }
    const wrongKey = { 'idempotency-key': 'a b' };
    const body = { variables: { input: { name: 'x', categoryId: 1 } } };
    expect(await ask({ ...body, query }, wrongKey)).toEqual(await ask({ ...body, query: unseen(query) }, wrongKey));
  });

  test('requests that share one read keep each their own shape', async () => {
    const shapes = ['{ id }', '{ name id }', '{ a: id b: id }', '{ __typename status }', '{ id ... { name } }'];
    const queries = shapes.flatMap((shape) => [`{ pets ${shape} }`, `{ other: pets ${shape} }`]);
    const alone: string[] = [];
    for (const query of queries) alone.push((await ask({ query })).text);
    for (let round = 0; round < 5; round++) {
      const together = await Promise.all(queries.map((query) => ask({ query })));
      expect(together.map(({ text }) => text)).toEqual(alone);
    }
  });

  test('both ways are counted alike', async () => {
    const query = '{ pet(id: 1) { name } }';
    const counts = async () => {
      const page = await gateway.metrics.registry.metrics();
      return page.split('\n').filter((line) => /^\w*(deprecated|graphql)\w*[{ ]/.test(line));
    };
    const increase = async (text: string) => {
      const read = (lines: string[]) => lines.map((line) => Number(line.slice(line.lastIndexOf(' '))));
      const before = await counts();
      await ask({ query: text });
      const after = await counts();
      return read(after).map((value, index) => value - (read(before)[index] ?? 0));
    };
    await teach({ query, fitting: {} });
    const known = await increase(query);
    expect(known).toEqual(await increase(unseen(query)));
    expect(known.filter((value) => value === 1).length).toBeGreaterThan(1);
  });

  describe('when the database fails', () => {
    const QUERIES = [
      '{ pets { id } }',
      '{ pet(id: 1) { id } }',
      'mutation { addPet(input: { name: "x", categoryId: 1 }) { id } }',
    ];

    test.each<[what: string, fail: (broken: TestGateway) => Promise<unknown>]>([
      ['a broken table', ({ database }) => database.knex.schema.renameTable('pets', 'pets_gone')],
      ['a closed database', ({ database }) => database.close()],
    ])('%s', async (_what, fail) => {
      const healthy = gateway;
      gateway = await startGateway(engine, { LOG_LEVEL: 'silent' });
      for (const query of QUERIES) await teach({ query, fitting: {} });
      await fail(gateway);
      for (const query of QUERIES) expect(await ask({ query })).toEqual(await ask({ query: unseen(query) }));
      gateway = healthy;
    });
  });
});
