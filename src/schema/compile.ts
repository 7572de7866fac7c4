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
import {
  type Arguments,
  createPlanner,
  type FieldPlan,
  NO_VARIABLES,
  type Path,
  pathOf,
  type SelectionPlan,
} from './plan.ts';

/** Compiles the document of a REST row. Throws Error, which stops the start, when it does not fit the schema. */
export type Compile = ReturnType<typeof createCompiler>;

/** A document with one operation and one root field, parsed, validated and planned once. */
export type CompiledOperation = ReturnType<Compile>;

/** A variable and the argument of the root field that takes its value. */
export type CompiledVariable = CompiledOperation['variables'][number];

/** Creates the compiler of a service's documents. */
export function createCompiler(schema: GraphQLSchema, deprecations: readonly Deprecation[]) {
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
    // Each variable is the whole value of one argument of the root field.
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
    // Each variable occurs twice: in its definition and in the argument.
    if (variableNodes > 2 * variables.length) {
      throw new Error(`A document of the table has variables at its root field only: ${text}`);
    }
    return {
      /** The deprecations of the fields that it selects. */
      deprecations: [...found],
      isMutation: operation.operation === OperationTypeNode.MUTATION,
      /** The root field. */
      field: root.field,
      variables,
      /** The selection of the root field; undefined for a leaf. */
      selection: root.selection,
      run: createExecutor(root),
    };
  };
}

/** A validation rule that reports no errors: it adds the deprecations of the selected fields to `found`. */
export function noteDeprecations(deprecations: readonly Deprecation[], found: Set<Deprecation>): ValidationRule {
  return (context) => ({
    Field() {
      const coordinate = `${context.getParentType()?.name}.${context.getFieldDef()?.name}`;
      const deprecation = deprecationOf(deprecations, coordinate);
      if (deprecation !== undefined) found.add(deprecation);
    },
  });
}

/** The property with the value of a field in an object that `CompiledOperation.run` gave. */
export function loadedKey({ isExposed }: SelectionPlan, { property, responseName }: FieldPlan): string {
  return isExposed ? property : `_${responseName}`; // prefixed, because assigning to `__proto__` would set the prototype
}

/**
 * Creates a function that runs a root field with coerced arguments. The result is the value of the field, or a promise of
 * it. An object whose selection needs no resolver is the store's row; other objects have the selected fields by
 * `loadedKey`. The function throws what a resolver throws.
 */
function createExecutor(root: FieldPlan): (args: Arguments, context: Context) => unknown {
  const { resolver, selection } = root;
  if (resolver === undefined) throw new Error(`${root.field.name} has no resolver.`);
  const path = pathOf(root, undefined);
  const info = root.info(NO_VARIABLES, path);
  if (selection?.isExposed !== false) return (args, context) => resolver(undefined, args, context, info);
  return async (args, context) => load(root, resolver(undefined, args, context, info), context, path);
}

/**
 * Resolves the selection of a field's value or, with `isItem`, of an item of its list: of all items at once, so that the store
 * can batch their reads.
 */
async function load(field: FieldPlan, given: unknown, context: Context, path: Path, isItem = false): Promise<unknown> {
  const { selection, isList, isNullable, isItemNullable } = field;
  const value = requireValue(await given, isItem ? isItemNullable : isNullable, path);
  if (value === null || selection === undefined) return value;
  if (isList && !isItem) {
    const list = value as readonly unknown[]; // the resolver of a list field gives a list
    const items = await Promise.all(list.map((item) => load(field, item, context, path, true)));
    if (context.unfinished.includes(list)) context.unfinished.push(items); // the next page belongs to the resolved list too
    return items;
  }
  if (selection.isExposed) return value;
  const row = value as Readonly<Record<string, unknown>>; // the resolver of an object field gives an object
  const loaded: Record<string, unknown> = {};
  const loadField = async (inner: FieldPlan) => {
    const { resolver, property } = inner;
    const innerPath = pathOf(inner, path);
    const found = resolver?.(row, inner.readArguments(NO_VARIABLES), context, inner.info(NO_VARIABLES, innerPath));
    loaded[loadedKey(selection, inner)] = await load(inner, resolver ? found : row[property], context, innerPath);
  };
  await Promise.all(selection.fields.map(loadField));
  return loaded;
}

/** Like GraphQL §6.4.3, but an error or a null in a non-null position fails the whole operation. */
function requireValue(value: unknown, isNullable: boolean, { typename, key }: Path): unknown {
  if (value instanceof Error) throw value;
  if ((value === null || value === undefined) && !isNullable) {
    throw new Error(`Cannot return null for non-nullable field ${typename}.${key}.`);
  }
  return value ?? null;
}
