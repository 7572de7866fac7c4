import {
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  getArgumentValues,
  Kind,
  type VariableValues,
  visit,
} from 'graphql';

/** Coerced arguments by their names. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Coerced arguments of a field. Throws what graphql-js throws when a variable does not fit. */
export type ReadArguments = (variables: VariableValues) => Arguments;

/** The arguments of the fields of one request: each is coerced once. An error tells why the field will not run. */
export type ArgumentsOf = (field: { readonly readArguments: ReadArguments }) => Arguments | GraphQLError;

/** Reads the arguments of one request, with the values that its variables have. */
export function createArgumentsOf(variables: VariableValues): ArgumentsOf {
  const known = new Map<object, Arguments | GraphQLError>();
  const read: ArgumentsOf = (field) => {
    try {
      return field.readArguments(variables);
    } catch (error) {
      return error as GraphQLError; // getArgumentValues throws nothing else
    }
  };
  return (field) => {
    let given = known.get(field);
    if (given === undefined) {
      given = read(field);
      known.set(field, given);
    }
    return given;
  };
}

/** Reads the arguments that a field is written with; what has no variable in it is coerced once. */
export function planArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): ReadArguments {
  const read: ReadArguments = (variables) => toPlain(getArgumentValues(field, node, variables));
  if (hasVariables(node)) return read;
  let constant: Arguments | undefined;
  return (variables) => (constant ??= read(variables));
}

function hasVariables({ arguments: given = [] }: FieldNode): boolean {
  let found = false;
  const Variable = () => {
    found = true;
  };
  for (const { value } of given) {
    if (value.kind === Kind.VARIABLE) return true;
    if (value.kind === Kind.OBJECT || value.kind === Kind.LIST) visit(value, { Variable });
  }
  return found;
}

/** graphql-js gives objects without a prototype, which V8 keeps as hash tables: Pothos, which copies them, is slow with those. */
function toPlain(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name of Object.keys(values)) {
    const value = values[name];
    plain[name] = isBare(value) ? toPlain(value) : value;
  }
  return plain;
}

function isBare(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null;
}
