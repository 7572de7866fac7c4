import { InputValidationError } from '@pothos/plugin-validation';
import { GraphQLError, getOperationAST, getVariableValues, locatedError, parse } from 'graphql';
import { processRegularResult } from 'graphql-yoga';
import { describe, expect, test } from 'vitest';
import { ApiError, serviceUnavailable } from '../../src/gateway/errors.ts';
import { createErrorMask, tellErrors } from '../../src/gateway/graphql/error-masking.ts';
import { createLog } from '../../src/gateway/log.ts';
import { createMetrics } from '../../src/gateway/metrics.ts';
import { createBuilder } from '../../src/gateway/schema/builder.ts';

/** The mask of an answer, and the lines that the log has of it. */
function maskOfAnswer() {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => lines.push(line) });
  const metrics = createMetrics(() => ({ used: 0, free: 0, waiting: 0 }));
  return { mask: createErrorMask('a request', { log, metrics }), lines };
}

/** What is shown of errors in the fields of a list, one for each row, and how many lines the log has of them. */
function maskAll(errors: readonly Error[]) {
  const { mask, lines } = maskOfAnswer();
  const shown = errors.map((error, row) => mask(locatedError(error, undefined, ['pets', row])));
  return { shown, lines: lines.length };
}

const many = (make: (row: number) => Error) => Array.from({ length: 100 }, (_, row) => make(row));
const cause = new Error('the connection is gone');

test.each<[what: string, make: (row: number) => Error, lines: number]>([
  ['faults that differ', (row) => new Error(`fault ${row}`), 5],
  ['one fault of all rows', () => cause, 1],
  ['one fault behind the refusals of all rows', () => serviceUnavailable(cause), 1],
  ['refusals', () => new ApiError('forbidden', 'no'), 0],
])('%s: every row is told, and few lines are logged', (_what, make, lines) => {
  const masked = maskAll(many(make));
  expect(masked.lines).toBe(lines);
  expect(masked.shown.map(({ path }) => path?.[1])).toEqual(many(() => cause).map((_, row) => row));
});

test('what passes says after how many seconds it may be tried again', () => {
  const { shown } = maskAll([
    serviceUnavailable(cause),
    new ApiError('too_many_requests', 'slowly', { headers: { 'Retry-After': '7' } }),
    cause,
  ]);
  expect(shown.map(({ extensions }) => [extensions.code, extensions.retryAfter])).toEqual([
    ['SERVICE_UNAVAILABLE', 1],
    ['TOO_MANY_REQUESTS', 7],
    ['INTERNAL_SERVER_ERROR', undefined],
  ]);
});

test('a refusal is told however many errors are around it', () => {
  const refusal = new ApiError('forbidden', 'not with this key');
  const { shown, lines } = maskAll([new GraphQLError('around it', { originalError: refusal })]);
  expect(shown).toMatchObject([{ message: 'not with this key', extensions: { code: 'FORBIDDEN' } }]);
  expect(lines).toBe(0);
});

test('the quotes of one message have 100 characters together', () => {
  const [first, second, third] = ['x'.repeat(80), 'y'.repeat(80), 'z'.repeat(80)];
  const extensions = { code: 'GRAPHQL_VALIDATION_FAILED' };
  const { shown } = maskAll([new GraphQLError(`"${first}" is not used in "${second}" of "${third}".`, { extensions })]);
  expect(shown[0]?.message).toBe(`"${first}" is not used in "${second.slice(0, 17)}… of ….`);
});

test.each([
  [['input', 'title'], 'input.title must be short'],
  [['input'], 'input must be short'],
  [[], 'The arguments must be short'],
])('a broken rule of %j says what it is of', (path, message) => {
  expect(maskAll([new InputValidationError({ issues: [{ path, message: 'must be short' }] })]).shown).toMatchObject([
    { message },
  ]);
});

describe('a value of a variable that a scalar refuses', () => {
  const builder = createBuilder();
  const moment = builder.scalarType('DateTime' as never /* no kind is of it */, {
    serialize: (value) => value,
    parseValue() {
      throw new ApiError('bad_request', 'DateTime must be a moment.');
    },
  });
  const loan = builder.inputType('Loan', { fields: (t) => ({ due: t.field({ type: moment }) }) });
  builder.queryType({ fields: (t) => ({ lend: t.int({ args: { loan: t.arg({ type: loan }) }, resolve: () => 1 }) }) });
  const { variableDefinitions = [] } = getOperationAST(parse('query ($loan: Loan) { lend(loan: $loan) }')) ?? {};
  const { errors = [] } = getVariableValues(builder.toSchema(), variableDefinitions, { loan: { due: 'x' } });

  test.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
  ])('is told as %s like any wrong variable: by name, with status %i', async (type, status) => {
    const masked = errors.map(maskOfAnswer().mask);
    const answer = await tellErrors({ processRegularResult }, masked, false, `${type}; charset=utf-8`);
    expect([answer.status, answer.headers['Content-Type']]).toEqual([status, `${type}; charset=utf-8`]);
    const message = expect.stringMatching(
      /^Variable "\$loan" has invalid value at \.due: .*"DateTime must be a moment\."/,
    );
    expect(JSON.parse(answer.body)).toMatchObject({ errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] });
  });
});
