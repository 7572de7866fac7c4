import { GraphQLEnumType, type GraphQLNamedType } from 'graphql';
import type { AnswerFormat } from '../../lib/graphql-plan/graphql-plan.ts';
import { ApiError } from '../errors.ts';
import { type AnyKind, type Bounds, KINDS, kindOfScalar } from '../kinds.ts';

/** The most bytes of an answer's data. */
export const ANSWER_BYTES_MAX = 32 * 2 ** 20;

/** The refusal of a page whose rows have more. */
export function answerTooLarge(): ApiError {
  const message = `The answer would be larger than ${ANSWER_BYTES_MAX} bytes: ask for a smaller limit.`;
  return new ApiError('bad_request', message, { graphqlCode: 'MAX_RESPONSE_BYTES_EXCEEDED' });
}

/** How GraphQL writes answers. */
export const GRAPHQL_FORMAT: AnswerFormat = { leafWriter: (type) => leafKind(type).writeGraphql, omitsNull: false };

/** How REST writes answers: it omits null properties. */
export const REST_FORMAT: AnswerFormat = { leafWriter: (type) => leafKind(type).write, omitsNull: true };

/** The kind of a leaf type within bounds. Throws Error, which stops the start, for a scalar or enum without a kind. */
export function leafKind(type: GraphQLNamedType, bounds: Bounds = {}): AnyKind {
  const kind = type instanceof GraphQLEnumType ? wordKind(type) : kindOfScalar(type.name, bounds);
  if (kind === undefined) throw new Error(`${type.name} is of no kind that src/gateway/kinds.ts has.`);
  return kind;
}

function wordKind(type: GraphQLEnumType): AnyKind | undefined {
  const values = type.getValues();
  const isOfWords = values.every(({ name, value }) => typeof value === 'string' && value.toUpperCase() === name);
  return isOfWords ? KINDS.word.within({ enum: values.map(({ value }) => value) }) : undefined;
}
