import { InputValidationError } from '@pothos/plugin-validation';
import type { GraphQLArgument, GraphQLInputField } from 'graphql';
import * as z from 'zod/mini';
import type { Bounds } from '../kinds.ts';

/** The rules of an argument or input field as JSON Schema keywords; rules without a keyword are left out. */
export function boundsOf({ extensions }: GraphQLArgument | GraphQLInputField): Bounds {
  // Pothos stores the rules here, https://pothos-graphql.dev/docs/plugins/validation
  const { schemas = [] } = (extensions['@pothos/plugin-validation'] ?? {}) as { schemas?: z.core.$ZodType[] };
  const bounds = schemas.map((rule) => {
    const { $schema, type, ...keywords } = z.toJSONSchema(rule, { unrepresentable: 'any', io: 'input' });
    return keywords;
  });
  return Object.assign({}, ...bounds);
}

/** A validation rule that an input breaks. */
export interface BrokenRule {
  /** The path of the invalid input: the argument, then the input fields. */
  readonly path: readonly PropertyKey[];
  /** A sentence without its subject, which is the name of the input: `must be …`. */
  readonly message: string;
}

/** The first broken rule of a validation error; undefined for any other error. */
export function brokenRule(thrown: unknown): BrokenRule | undefined {
  const [issue] = thrown instanceof InputValidationError ? thrown.issues : [];
  if (issue === undefined) return undefined;
  const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step));
  return { path, message: issue.message };
}
