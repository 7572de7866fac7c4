import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import { InputValidationError } from '@pothos/plugin-validation';
import type { GraphQLArgument, GraphQLFieldResolver, GraphQLInputField } from 'graphql';
import * as z from 'zod/mini';
import type { Arguments, CheckArguments } from '../../lib/graphql-plan/graphql-plan.ts';
import { requireWrite } from '../keys/api-key.ts';
import type { Bounds } from '../kinds.ts';
import type { Context } from './context.ts';

/** The name of the plugin below. */
export const FIELD_CHECKS = 'fieldChecks';

/**
 * What a field checks before its resolver runs. The rules of arguments are taken out of the resolvers, where Pothos runs them: plans
 * check arguments when they are coerced, before the cost of an operation is known. A field of Mutation refuses read-only keys
 * first, and its resolver gets stores that change rows. So no resolver has to check rights, and no other field can change data.
 */
class FieldChecks<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const argMappers: readonly unknown[] = config.argMappers;
    const rules = argMappers as readonly Rule[]; // those of the validation plugin read no further argument
    const checkArguments: CheckArguments = (args, context) => {
      if (config.kind === 'Mutation') requireWrite((context as Context).caller); // the schema is run with no other context
      return rules.reduce(applyRule, args);
    };
    return { ...config, argMappers: [], extensions: { ...config.extensions, checkArguments } };
  }

  override wrapResolve(resolve: Resolve, { kind }: PothosOutputFieldConfig<Types>): Resolve {
    if (kind !== 'Mutation') return resolve;
    return (source, args, context, info) => resolve(source, args, (context as Context).forMutation(), info); // as above
  }
}

type Resolve = GraphQLFieldResolver<unknown, object, object>;
type Rule = (args: Arguments) => Arguments | Promise<Arguments>;

/** Throws InputValidationError for a broken rule, and Error for an asynchronous one: there is no time to wait for it. */
function applyRule(args: Arguments, rule: Rule): Arguments {
  const checked = rule(args);
  if (!(checked instanceof Promise)) return checked;
  checked.catch(() => {}); // no unhandled rejection
  throw new Error('A rule of an argument is asynchronous.');
}

declare global {
  // biome-ignore lint/style/noNamespace: https://pothos-graphql.dev/docs/guide/writing-plugins
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      [FIELD_CHECKS]: FieldChecks<Types>;
    }
  }
}

SchemaBuilder.registerPlugin(FIELD_CHECKS, FieldChecks);

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

/**
 * The first broken rule of a validation error; undefined for any other error. `path` is that of the invalid input: the argument, then
 * the input fields. `message` is a sentence without its subject, which is the name of the input: `must be …`.
 */
export function brokenRule(thrown: unknown) {
  const [issue] = thrown instanceof InputValidationError ? thrown.issues : [];
  if (issue === undefined) return undefined;
  const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step));
  return { path, message: issue.message };
}
