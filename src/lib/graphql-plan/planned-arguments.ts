import { type FieldNode, type GraphQLField, getArgumentValues, Kind, type VariableValues, visit } from 'graphql';

/** Coerced arguments by their names. */
export type Arguments = Readonly<Record<string, unknown>>;

/** GraphQL §6.4.1 CoerceArgumentValues, into objects with a prototype. Throws GraphQLError. */
export type CoerceArguments = (variables: VariableValues) => Arguments;

/**
 * Gives coerced arguments as the resolver gets them. Throws Error, which becomes the field's error, when something about them or
 * the context is not allowed.
 */
export type CheckArguments = (args: Arguments, context: unknown) => Arguments;

/** The variable values of an operation without variables. */
export const NO_VARIABLES: VariableValues = { sources: {}, coerced: {} };

/** Creates a function that coerces the arguments of a field node. Without variables they are coerced once, at the first call. */
export function planArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): CoerceArguments {
  const coerce: CoerceArguments = (variables) => toPlain(getArgumentValues(field, node, variables)) as Arguments; // toPlain copies
  const variableNames = new Map<string, string>();
  let hasVariables = false;
  const Variable = () => {
    hasVariables = true;
  };
  for (const { name, value } of node.arguments ?? []) {
    visit(value, { Variable });
    if (value.kind === Kind.VARIABLE) variableNames.set(name.value, value.name.value);
  }
  if (!hasVariables) {
    let constant: Arguments | undefined;
    return (variables) => (constant ??= coerce(variables));
  }
  if (variableNames.size < field.args.length) return coerce;
  // The usual case: each argument is a variable with a value, which is coerced already.
  return (variables) => {
    const values: Record<string, unknown> = {};
    for (const { name } of field.args) {
      const value = variables.coerced[variableNames.get(name) ?? ''];
      if (value === undefined || value === null) return coerce(variables);
      values[name] = toPlain(value);
    }
    return values;
  };
}

/** Copies objects without a prototype, as graphql-js makes them, into ones with: V8 keeps the former as slow hash tables. */
function toPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  const plain: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) plain[name] = toPlain(inner);
  return plain;
}

/** How the arguments of a planned field are read. */
interface PlannedArguments {
  readonly coerceArguments: CoerceArguments;
  readonly checkArguments: CheckArguments | undefined;
}

/** Gives the coerced and checked arguments of a field in one request, or the error of that. */
export type ArgumentsOf = (field: PlannedArguments) => Arguments | Error;

/** Creates the argument coercion of one request. Results are kept: an analysis of the cost may ask for them, too. */
export function createArgumentsOf(variables: VariableValues, context: unknown): ArgumentsOf {
  const known = new Map<PlannedArguments, Arguments | Error>();
  return (field) => {
    let args = known.get(field);
    if (args !== undefined) return args;
    try {
      const coerced = field.coerceArguments(variables);
      args = field.checkArguments?.(coerced, context) ?? coerced;
    } catch (error) {
      args = error as Error; // getArgumentValues and checks throw nothing else
    }
    known.set(field, args);
    return args;
  };
}
