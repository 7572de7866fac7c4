import { InputValidationError } from '@pothos/plugin-validation';
import { type GraphQLArgument, GraphQLError, type GraphQLInputField } from 'graphql';
import * as z from 'zod/mini';
import type { Bounds } from '../kinds.ts';

/** What of the rules of an argument or an input field JSON Schema can say. */
export function boundsOf({ extensions }: GraphQLArgument | GraphQLInputField): Bounds {
  // Where Pothos keeps them, https://pothos-graphql.dev/docs/plugins/validation
  const { schemas = [] } = (extensions['@pothos/plugin-validation'] ?? {}) as { schemas?: z.core.$ZodType[] };
  const bounds = schemas.map((rule) => {
    const { $schema, type, ...keywords } = z.toJSONSchema(rule, { unrepresentable: 'any', io: 'input' });
    return keywords;
  });
  return Object.assign({}, ...bounds);
}

/** A rule of the schema that an input breaks. */
export interface BrokenRule {
  /** The argument, and the way to the field within it. */
  readonly path: readonly PropertyKey[];
  /** What is wrong, to follow the name of the field: `must be …`. */
  readonly message: string;
}

/** What was thrown below a GraphQLError that execution wrapped around it. */
export function originalError(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? originalError(error.originalError) : error;
}

/** The first rule that an input broke, when that is what was thrown. */
export function brokenRule(thrown: unknown): BrokenRule | undefined {
  const cause = originalError(thrown);
  const [issue] = cause instanceof InputValidationError ? cause.issues : [];
  if (issue === undefined) return undefined;
  const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step));
  return { path, message: issue.message };
}
