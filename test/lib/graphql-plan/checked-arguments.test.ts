import { buildSchema, GraphQLError, getOperationAST, parse } from 'graphql';
import { expect, test, vi } from 'vitest';
import {
  createArgumentsOf,
  createPlannedExecution,
  createPlanner,
  NO_VARIABLES,
} from '../../../src/lib/graphql-plan/graphql-plan.ts';

const schema = buildSchema('type Query { books: [Book!] } type Book { page(number: Int!): Int! }');
const checkArguments = vi.fn(({ number }: { number: number }, pages: number) => {
  if (number > pages) throw new Error('no such page');
  return { number: number - 1 };
});
Object.assign(schema.getQueryType()?.getFields().books ?? {}, { resolve: () => [{}, {}] });
Object.assign(Object(schema.getType('Book')).getFields().page, {
  resolve: (_book: unknown, { number }: { number: number }) => number,
  extensions: { checkArguments },
});
const plan = createPlanner(schema, { leafWriter: () => JSON.stringify, omitsNull: false });
const execute = createPlannedExecution<number>({ bytesMax: 2 ** 20, tooLarge: new GraphQLError('too large') });

function run(number: number) {
  const document = parse(`{ books { page(number: ${number}) } }`);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('one operation');
  const context = 9;
  const argumentsOf = createArgumentsOf(NO_VARIABLES, context);
  return execute({ plan: plan(document, operation), isMutation: false, variables: NO_VARIABLES, argumentsOf, context });
}

test('a resolver gets what the check of its arguments gives, once for all objects', async () => {
  expect(await run(9)).toEqual({ dataJson: '{"books":[{"page":8},{"page":8}]}', errors: [] });
  expect(checkArguments.mock.calls).toEqual([[{ number: 9 }, 9]]);
});

test('what the check throws is an error of the field', async () => {
  expect(await run(10)).toMatchObject({
    dataJson: '{"books":null}',
    errors: [{ message: 'no such page', path: ['books', 0, 'page'] }],
  });
});
