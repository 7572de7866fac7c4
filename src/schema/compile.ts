import {
  type GraphQLSchema,
  getOperationAST,
  Kind,
  OperationTypeNode,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import { type Deprecation, deprecationOf } from '../deprecations.ts';
import type { Context } from './context.ts';
import { type Arguments, createPlanner, type FieldPlan, NO_VARIABLES, type Path, type SelectionPlan } from './plan.ts';

/** Compiles a document of ours. Throws an error that stops the start when it does not fit the schema. */
export type Compile = ReturnType<typeof createCompiler>;

/** A document of ours with one operation and one root field, parsed, validated and planned once. */
export type CompiledOperation = ReturnType<Compile>;

/** A variable, and the argument of the root field that it is. */
export type CompiledVariable = CompiledOperation['variables'][number];

/** Gives what compiles the documents of a service. */
export function createCompiler({ schema, deprecations }: CompilerParts) {
  const plan = createPlanner(schema);
  return (text: string) => {
    const document = parse(text);
    const found = new Set<Deprecation>();
    const [wrong] = validate(schema, document, [...specifiedRules, noteDeprecations(deprecations, found)]);
    if (wrong !== undefined) throw wrong;
    const operation = getOperationAST(document);
    const { fields = [] } = operation ? plan(document, operation) : {};
    const [root] = fields;
    if (!operation || !root || fields.length > 1) {
      throw new Error(`A document of the table asks for one root field: ${text}`);
    }
    const given = root.nodes[0]?.arguments ?? [];
    if (given.some(({ value }) => value.kind !== Kind.VARIABLE)) {
      throw new Error(`A document of the table takes its arguments from variables: ${text}`);
    }
    // Each variable is an argument of the root field: its value is taken as it is.
    const variables = (operation.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => {
      const { value: name } = variable.name;
      const node = given.find(({ value }) => value.kind === Kind.VARIABLE && value.name.value === name);
      const argument = root.field.args.find((candidate) => candidate.name === node?.name.value);
      if (argument === undefined) throw new Error(`$${name} is no argument of ${root.field.name}.`);
      if (defaultValue !== undefined) throw new Error(`The default of $${name} is for the schema to say.`);
      return { name, argument, isRequired: type.kind === Kind.NON_NULL_TYPE };
    });
    let variableNodes = 0;
    const Variable = () => {
      variableNodes++;
    };
    visit(document, { Variable });
    if (variableNodes > 2 * variables.length) {
      // its definition, and the argument
      throw new Error(`A document of the table has variables at its root field only: ${text}`);
    }
    return {
      /** The records of the deprecated fields that it touches. */
      deprecations: [...found],
      isMutation: operation.operation === OperationTypeNode.MUTATION,
      /** What its root field is. */
      field: root.field,
      variables,
      /** What it asks of the object that the root field gives, or of each in its list; undefined for a leaf. */
      selection: root.selection,
      run: createLoader(root),
    };
  };
}

/** What documents are compiled for. */
interface CompilerParts {
  readonly schema: GraphQLSchema;
  readonly deprecations: readonly Deprecation[];
}

/** Validation rule that refuses nothing: notes the records of the deprecated fields that a document touches. */
export function noteDeprecations(deprecations: readonly Deprecation[], found: Set<Deprecation>): ValidationRule {
  return (context) => ({
    Field() {
      const coordinate = `${context.getParentType()?.name}.${context.getFieldDef()?.name}`;
      const deprecation = deprecationOf(deprecations, coordinate);
      if (deprecation !== undefined) found.add(deprecation);
    },
  });
}

/** The property that has the value of a field, in an object that was loaded; rows that need no resolver stay as they are. */
export function loadedKey({ isExposed }: SelectionPlan, { property, responseName }: FieldPlan): string {
  return isExposed ? property : `_${responseName}`; // a response name may be `__proto__`, which is no property like others
}

/**
 * Gives what runs a root field with arguments that are coerced already. It gives the field's value, or a promise of it, with
 * all within it that the selection names: rows that need no resolver as they are, other objects by `loadedKey`. It throws
 * what a resolver throws.
 */
function createLoader(root: FieldPlan): (args: Arguments, context: Context) => unknown {
  const { resolver, selection } = root;
  if (resolver === undefined) throw new Error(`${root.field.name} has no resolver.`);
  const path = pathOf(root, undefined);
  const info = root.info(NO_VARIABLES, path);
  if (selection?.isExposed !== false) return (args, context) => resolver(undefined, args, context, info);
  return async (args, context) => load(root, resolver(undefined, args, context, info), context, path);
}

const pathOf = ({ responseName, parentType }: FieldPlan, prev: Path | undefined): Path => {
  return { prev, key: responseName, typename: parentType.name };
};

/** Loads all that is asked of what a field gave; all at once, so that the store can read the objects of all rows together. */
async function load(field: FieldPlan, given: unknown, context: Context, path: Path): Promise<unknown> {
  const { selection, isList, isNullable, isItemNullable } = field;
  const value = requireValue(await given, isNullable, path);
  if (value === null || selection === undefined) return value;
  if (!isList) return loadObject(selection, value, context, path);
  const list = value as readonly unknown[]; // what the resolver of a list field gives
  const items = await Promise.all(
    list.map(async (item) => loadObject(selection, requireValue(await item, isItemNullable, path), context, path)),
  );
  if (context.reply.unfinished.includes(list)) context.reply.unfinished.push(items); // the same list, loaded
  return items;
}

async function loadObject(selection: SelectionPlan, object: unknown, context: Context, path: Path): Promise<unknown> {
  if (object === null || selection.isExposed) return object;
  const row = object as Readonly<Record<string, unknown>>; // what the resolver of an object field gives
  const loaded: Record<string, unknown> = {};
  const loadField = async (field: FieldPlan) => {
    const { resolver, property } = field;
    const place = pathOf(field, path);
    const given = resolver?.(row, field.readArguments(NO_VARIABLES), context, field.info(NO_VARIABLES, place));
    loaded[loadedKey(selection, field)] = await load(field, resolver ? given : row[property], context, place);
  };
  await Promise.all(selection.fields.map(loadField));
  return loaded;
}

/** GraphQL §6.4.3: what may not be null and is, or is an error, fails the whole operation. */
function requireValue(value: unknown, isNullable: boolean, { typename, key }: Path): unknown {
  if (value instanceof Error) throw value;
  if ((value === null || value === undefined) && !isNullable) {
    throw new Error(`Cannot return null for non-nullable field ${typename}.${key}.`);
  }
  return value ?? null;
}
