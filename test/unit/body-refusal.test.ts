import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { createCompiler } from '../../src/gateway/rest/compile.ts';
import { compileOperationRow } from '../../src/gateway/rest/operation.ts';
import { describeOperation } from '../../src/gateway/rest/operation-description.ts';

const SCHEMA = buildSchema(`
  type Thing { id: ID! }
  input Changes { name: String }
  input Whole { name: String! }
  type Query { thing: Thing }
  type Mutation {
    "Changes it." change("Its id." id: ID!, "What changes." input: Changes!): Thing
    "Puts it." put("Its id." id: ID!, "All of it." input: Whole!): Thing
    "Copies it." copy("Its id." id: ID!): Thing
  }
`);
for (const root of [SCHEMA.getQueryType(), SCHEMA.getMutationType()]) {
  for (const field of Object.values(root?.getFields() ?? {})) field.resolve = () => null;
}

const refusalOf = (field: string, type?: string) => {
  const [variable, argument] = type === undefined ? ['', ''] : [`, $input: ${type}!`, ', input: $input'];
  const row = {
    operationId: field,
    method: 'PATCH',
    path: '/things/{id}',
    summary: 'Do it',
    description: 'Does it.',
    document: `mutation ($id: ID!${variable}) { ${field}(id: $id${argument}) { id } }`,
    success: { status: 200, description: 'Done.' },
    notFound: 'No thing has this id.',
    isIdempotent: true,
    examples: {},
  } as const;
  const { answers } = describeOperation(compileOperationRow(row, 'things', createCompiler(SCHEMA, []), {}));
  const refusal: any = answers.find(({ status }) => status === 400);
  return [refusal.description, refusal.content.example.message];
};

test('the 400 of a body says what the operation says of one that is wrong', () => {
  expect(refusalOf('put', 'Whole')).toEqual([
    'The body is missing required fields or has invalid values.',
    'name is required: a string.',
  ]);
  expect(refusalOf('change', 'Changes')).toEqual(['The body has invalid values.', 'The body must be a JSON object.']);
});

test('the 400 of an idempotent operation without a body is about its Idempotency-Key', () => {
  expect(refusalOf('copy')).toEqual([
    'The Idempotency-Key is not valid.',
    'The header Idempotency-Key must be 1 to 255 visible ASCII characters; in quotes, blanks may be among them.',
  ]);
});
