import fc from 'fast-check';
import {
  executeRootSelectionSet,
  getOperationAST,
  getVariableValues,
  Kind,
  parse,
  validate,
  validateExecutionArgs,
} from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/gateway/schema/context.ts';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import type { CheckArguments, PlanRequest, Result } from '../../src/lib/graphql-plan/graphql-plan.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf } from '../support/gateway.ts';
import { generatedRequest } from './documents.ts';
import { serveEndpoint } from './endpoint-alone.ts';
import { exactJson } from './exact-json.ts';

const accept = fc.constantFrom('application/json', 'application/graphql-response+json', '*/*');

/** A schema for graphql-js, which knows no checks of arguments: its resolvers run them. */
const schema = createSchema(PETSTORE);
for (const field of [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  Object.values(type?.getFields() ?? {}),
)) {
  const { resolve, extensions } = field;
  const check = extensions.checkArguments as CheckArguments; // every field has it
  field.resolve = (source, args, context, info) => resolve?.(source, check(args, context), context, info);
}

let runsByGraphqlJs = 0;

interface Asked {
  readonly query?: string;
  readonly variables?: object;
  readonly operationName?: string | null | undefined;
}

/** What graphql-js was asked last. */
let asked: Asked = {};

/** graphql-js runs the document that planned execution would; it sees no plan. */
async function runByGraphqlJs({ variables, context }: PlanRequest<Context>): Promise<Result> {
  const given = parse(asked.query ?? '');
  const operation = getOperationAST(given, asked.operationName || undefined);
  const others = given.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  if (!operation) throw new Error('the endpoint runs no document without its operation');
  const definitions = [{ ...operation, variableDefinitions: [] }, ...others]; // they have their values
  const prepared = validateExecutionArgs({
    schema,
    document: { kind: Kind.DOCUMENT, definitions },
    contextValue: context,
  });
  if (!('schema' in prepared)) throw prepared[0];
  runsByGraphqlJs++;
  const { data, errors = [] } = await executeRootSelectionSet({ ...prepared, variableValues: variables });
  return { dataJson: JSON.stringify(data), errors };
}

/** What a request is answered that graphql-js would run: data, or a limit, or what the endpoint itself refuses. */
const DATA_OR_RULE = /"data":|MAX_\w+_EXCEEDED|A mutation must be sent by POST|The document has no operation/;

/** Whether graphql-js would run the request. */
function isRunnable({ query = '', variables, operationName }: Asked): boolean {
  try {
    const document = parse(query);
    const operation = getOperationAST(document, operationName || undefined);
    const values = JSON.parse(exactJson(variables ?? {}));
    const coerced = operation && getVariableValues(schema, operation.variableDefinitions ?? [], values);
    return (
      coerced?.errors === undefined &&
      coerced !== undefined &&
      coerced !== null &&
      validate(schema, document).length === 0
    );
  } catch {
    return false;
  }
}

/**
 * Roots beside each other fail in any order. One that may not be null takes all data with it, and who fails after it is told to
 * nobody (GraphQL §6.4.4): of such an answer the messages count, each once, whichever root and directive they name.
 */
function inAnyOrder(query: string | undefined, { status, headers, text }: Shown) {
  const roots = query?.match(/\b(?:pets|pet)\(|\bpets \{|\.\.\.Page/g) ?? [];
  if (roots.length < 2 || !/"data":null/.test(text)) return { status, headers, text };
  const { errors } = JSON.parse(text) as { errors: { message: string }[] };
  const { 'content-length': _, ...others } = headers;
  return { status, headers: others, messages: new Set(errors.map(({ message }) => message.replace(/@\w+/, '@…'))) };
}

interface Shown {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

describeEachEngine('planned execution answers as graphql-js does', (engine) => {
  const gateway = gatewayOf(engine, { LOG_LEVEL: 'silent' });
  let planned: Ask;
  let byGraphqlJs: Ask;
  beforeAll(async () => {
    [planned, byGraphqlJs] = await Promise.all([
      asker(await serveEndpoint(gateway)),
      asker(await serveEndpoint(gateway, runByGraphqlJs)),
    ]);
    for (let index = 0; index < 6; index++)
      await gateway.createPet({ name: `pet ${index}`, categoryId: index, status: index % 2 ? 'sold' : undefined });
  });

  type Ask = (body: object, headers?: Record<string, string>, method?: 'GET' | 'POST') => Promise<Shown>;
  /** All that a client can see, but for what differs with every request. */
  const asker =
    (url: string): Ask =>
    async (body, headers = {}, method = 'POST') => {
      asked = body;
      const given = Object.entries(body).filter(([, value]) => value !== undefined);
      const query = given.map(([key, value]) => `${key}=${encodeURIComponent(asParameter(value))}`).join('&');
      const response =
        method === 'GET'
          ? await fetch(`${url}?${query}`, { headers })
          : await fetch(url, {
              method,
              headers: { 'content-type': 'application/json', ...headers },
              body: exactJson(body),
            });
      const shown = [...response.headers].filter(([name]) => name !== 'date');
      return { status: response.status, headers: Object.fromEntries(shown), text: await response.text() };
    };
  const asParameter = (value: unknown) => (typeof value === 'string' ? value : exactJson(value));

  test('status, headers and body, for documents and variables of every kind, by GET and by POST', async () => {
    const atFirst = runsByGraphqlJs;
    await fc.assert(
      fc.asyncProperty(
        generatedRequest,
        accept,
        fc.constantFrom('GET', 'POST'),
        async ({ query, variables, operationName }, accepted, method) => {
          const body = { query, variables, operationName };
          const answer = await planned(body, { accept: accepted }, method);
          const expected = await byGraphqlJs(body, { accept: accepted }, method);
          expect(inAnyOrder(query, answer)).toEqual(inAnyOrder(query, expected));
          // Nothing that graphql-js would answer with data is refused before it runs, but by a rule of ours.
          if (isRunnable(body)) expect(answer.text).toMatch(DATA_OR_RULE);
        },
      ),
      { numRuns: 120 },
    );
    // Enough of them were good enough to run.
    expect(runsByGraphqlJs - atFirst).toBeGreaterThan(28);
  });

  const ADD = 'addPet(input: { name: "x", categoryId: 1 }) { id }';
  test.each([
    ['a query', '{ pets { id } }', false],
    ['a mutation', `mutation { ${ADD} }`, true],
    ['a mutation of which nothing was run', `mutation ($skip: Boolean!) { ${ADD} @skip(if: $skip) }`, false],
  ])('the answer to %s is one that must not be thrown away: it tells of a change', async (_what, query, changes) => {
    const { headers } = await planned({ query });
    expect(headers['x-changes']).toBe(changes ? 'true' : undefined);
  });

  test('requests that share one read keep each their own shape', async () => {
    const shapes = ['{ id }', '{ name id }', '{ a: id b: id }', '{ __typename status }', '{ id ... { name } }'];
    const queries = [...shapes, ...shapes].flatMap((shape) => [`{ pets ${shape} }`, `{ other: pets ${shape} }`]);
    const alone: object[] = [];
    for (const query of queries) alone.push(await planned({ query }));
    for (let round = 0; round < 5; round++) {
      expect(await Promise.all(queries.map((query) => planned({ query })))).toEqual(alone);
    }
  });
});
