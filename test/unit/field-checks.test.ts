import { InputValidationError } from '@pothos/plugin-validation';
import { GraphQLError, getOperationAST, parse } from 'graphql';
import { beforeEach, expect, test, vi } from 'vitest';
import * as z from 'zod/mini';
import { createBuilder } from '../../src/gateway/schema/builder.ts';
import { GRAPHQL_FORMAT } from '../../src/gateway/schema/schema.ts';
import {
  createArgumentsOf,
  createPlannedExecution,
  createPlanner,
  NO_VARIABLES,
} from '../../src/lib/graphql-plan/graphql-plan.ts';

const rule = vi.fn((text: unknown) => String(text).length < 4);
const resolve = vi.fn((_root: unknown, { word }: { readonly word: string }) => word);

const builder = createBuilder();
const wordArgument = builder.args((t) => ({
  word: t.string({ required: true }).validate(z.custom<string>(rule, 'must be short')),
}));
const lateArgument = builder.args((t) => ({
  word: t.string({ required: true }).validate(z.string().check(z.refine(async () => false))),
}));
builder.queryType({
  fields: (t) => ({
    say: t.string({ args: wordArgument, resolve }),
    late: t.string({ args: lateArgument, resolve }),
  }),
});
builder.mutationType({ fields: (t) => ({ say: t.string({ args: wordArgument, resolve }) }) });
const plan = createPlanner(builder.toSchema({ sortSchema: false }), GRAPHQL_FORMAT);
const execute = createPlannedExecution({ bytesMax: 1000, tooLarge: new GraphQLError('too large') });

/** The answer to a document of one operation, whose arguments are asked for before it runs, as its cost does. */
async function run(text: string, mayWrite = true) {
  const document = parse(text);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('one operation');
  const context = { caller: { keyId: '1', ownerId: '1', mayWrite }, forMutation: () => context };
  const argumentsOf = createArgumentsOf(NO_VARIABLES, context);
  const planned = plan(document, operation);
  const args = planned.fields.map(argumentsOf);
  const ruleCalls = rule.mock.calls.length;
  const isMutation = operation.operation === 'mutation';
  const { dataJson, errors } = await execute({
    plan: planned,
    isMutation,
    variables: NO_VARIABLES,
    argumentsOf,
    context,
  });
  return { args, ruleCalls, dataJson, errors };
}

beforeEach(() => void vi.clearAllMocks());

test('a rule runs once, before the resolver and before the cost is known', async () => {
  const { ruleCalls, dataJson } = await run('{ say(word: "yes") }');
  expect([ruleCalls, dataJson]).toEqual([1, '{"say":"yes"}']);
  expect(rule).toHaveBeenCalledTimes(1);
});

test('arguments that break a rule are an error of their field, and its resolver does not run', async () => {
  const { args, errors } = await run('{ a: say(word: "too long") }');
  expect(args).toEqual([expect.any(InputValidationError)]);
  expect(errors).toMatchObject([
    { path: ['a'], originalError: { issues: [{ path: ['word'], message: 'must be short' }] } },
  ]);
  expect(resolve).not.toHaveBeenCalled();
});

test('a field of Mutation refuses a read-only key before its rules run; one of Query takes it', async () => {
  const { errors } = await run('mutation { say(word: "too long") }', false);
  expect(errors).toMatchObject([{ path: ['say'], originalError: { code: 'forbidden' } }]);
  expect(rule).not.toHaveBeenCalled();
  expect((await run('mutation { say(word: "yes") }')).dataJson).toBe('{"say":"yes"}');
  expect((await run('{ say(word: "yes") }', false)).errors).toEqual([]);
});

test('an asynchronous rule is a fault of its field, whatever becomes of it', async () => {
  const { errors } = await run('{ late(word: "yes") }');
  expect(errors).toMatchObject([{ path: ['late'], message: 'A rule of an argument is asynchronous.' }]);
  expect(resolve).not.toHaveBeenCalled();
});
