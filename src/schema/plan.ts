import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
  visit,
} from 'graphql';
import { type FieldShape, shapeFields } from './field-shape.ts';

/*
 * A plan says of an operation what graphql-js finds out while it runs one: which fields, with which arguments, written
 * how. The document is walked once and not for each row; the resolvers are the same.
 */

/** A field that is asked for. */
export interface FieldPlan extends FieldShape {
  readonly responseName: string;
  /** What stands before its value in the JSON of its object: its name, and all that never changes before it. */
  readonly head: string;
  readonly nodes: readonly FieldNode[];
  /** What is asked of its objects; undefined for a leaf. */
  readonly selection: SelectionPlan | undefined;
  /** Its arguments as graphql-js coerces them, in an ordinary object. Throws what graphql-js throws. */
  readArguments(variables: VariableValues): Arguments;
  /** What its resolver is told beside the arguments. */
  info(variables: VariableValues, path: Path): GraphQLResolveInfo;
}

/** Coerced arguments by their names. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A place in an answer: a response name or the index in a list, and where that stands. */
export type Path = GraphQLResolveInfo['path'];

/** What is asked of the objects of a type; `__typename` is part of the heads of its fields. */
export interface SelectionPlan {
  readonly type: GraphQLObjectType;
  readonly fields: readonly FieldPlan[];
  /** What ends the JSON of an object. */
  readonly tail: string;
  /** How many leaves are asked for, objects within it not counted. */
  readonly leafCount: number;
  /** Whether no resolver is needed: all that is asked for are properties, at every depth. */
  readonly isExposed: boolean;
}

/** An operation, as a selection of its root type. */
export interface OperationPlan extends SelectionPlan {
  /** How many fields it has at all depths. */
  readonly fieldCount: number;
}

/** No variable at all. */
export const NO_VARIABLES: VariableValues = { sources: {}, coerced: {} };

/** How many fields a plan may have: fragments multiply them. A plan with more ends there, and must not run. */
export const PLANNED_FIELDS_MAX = 2000;

/**
 * The plan of an operation of a valid document, for the values that the variables of its conditions have. Throws
 * GraphQLError when one of them is no Boolean.
 */
export type PlanOperation = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables?: VariableValues,
) => OperationPlan;

/** Plans the operations of a schema. Throws an error that stops the start when it has a field that cannot be planned. */
export function createPlanner(schema: GraphQLSchema): PlanOperation {
  const shapes = shapeFields(schema);
  return ({ definitions }, operation, variables = NO_VARIABLES) => {
    const rootType = schema.getRootType(operation.operation);
    if (!rootType) throw new Error(`The schema has no ${operation.operation}.`);
    const named = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    const fragments = Object.fromEntries(named.map((fragment) => [fragment.name.value, fragment]));
    const planner: Planner = { schema, shapes, operation, fragments, variables, fieldCount: 0 };
    const selection = planSelection(planner, rootType, [operation]);
    return { ...selection, fieldCount: planner.fieldCount };
  };
}

/** What all plans of an operation are made from. */
interface Planner {
  readonly schema: GraphQLSchema;
  readonly shapes: ReturnType<typeof shapeFields>;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly variables: VariableValues;
  fieldCount: number;
}

function planSelection(
  planner: Planner,
  type: GraphQLObjectType,
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
): SelectionPlan {
  const fields: FieldPlan[] = [];
  let head = '{';
  let leafCount = 0;
  for (const [responseName, fieldNodes] of collectFields(nodes, planner)) {
    if (++planner.fieldCount > PLANNED_FIELDS_MAX) break;
    const [node] = fieldNodes;
    if (node.name.value === '__typename') {
      head += `"${responseName}":"${type.name}",`;
      leafCount++;
      continue;
    }
    const field = planner.schema.getField(type, node.name.value);
    const shape = field && planner.shapes.get(field);
    if (shape === undefined) throw new Error(`${type}.${node.name.value} is no field of the schema.`);
    const selection = shape.type && planSelection(planner, shape.type, fieldNodes);
    if (selection === undefined) leafCount++;
    fields.push({
      ...shape,
      responseName,
      head: `${head}"${responseName}":`,
      nodes: fieldNodes,
      selection,
      readArguments: planArguments(shape.field, node),
      info: planInfo(planner, shape, fieldNodes),
    });
    head = ',';
  }
  const tail = head === '{' ? '{}' : `${head.slice(0, -1)}}`;
  return { type, fields, tail, leafCount, isExposed: fields.every(isExposed) };
}

function isExposed({ resolver, selection }: FieldPlan): boolean {
  return resolver === undefined && selection?.isExposed !== false;
}

/**
 * GraphQL §6.3.2 CollectFields, for types that are all objects: the field nodes of each response name, in the order of
 * the answer. Throws GraphQLError when a variable gives a condition no Boolean.
 */
function collectFields(nodes: readonly Pick<FieldNode, 'selectionSet'>[], { fragments, variables }: Planner) {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
  const spread = new Set<string>();
  const collect = (selectionSet: SelectionSetNode | undefined): void => {
    for (const selection of selectionSet?.selections ?? []) {
      if (!isIncluded(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        const same = fields.get(responseName);
        if (same) same.push(selection);
        else fields.set(responseName, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet); // a condition on another object type would not be valid here
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        collect(fragments[selection.name.value]?.selectionSet);
      }
    }
  };
  for (const { selectionSet } of nodes) collect(selectionSet);
  return fields;
}

function isIncluded(selection: SelectionNode, variables: VariableValues): boolean {
  if (!selection.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !== false;
}

/** Reads the arguments that a field is written with; those without a variable in them are coerced once. */
export function planArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): FieldPlan['readArguments'] {
  const read = (variables: VariableValues) => toPlain(getArgumentValues(field, node, variables));
  let hasVariables = false;
  const Variable = () => {
    hasVariables = true;
  };
  for (const argument of node.arguments ?? []) visit(argument, { Variable });
  if (hasVariables) return read;
  let constant: Arguments | undefined;
  return (variables) => (constant ??= read(variables));
}

/** graphql-js gives objects without a prototype, which V8 keeps as hash tables: Pothos, which copies them, is slow with those. */
function toPlain(values: Arguments): Arguments {
  const plain: Record<string, unknown> = {};
  for (const name of Object.keys(values)) {
    const value = values[name];
    plain[name] = isBare(value) ? toPlain(value) : value;
  }
  return plain;
}

function isBare(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null;
}

/** Gives the arguments of a field for one request, coerced once, or the error for which the field will not run. */
export type ArgumentsOf = (field: FieldPlan) => Arguments | GraphQLError;

/** Reads the arguments of one request, with the values that its variables have. */
export function createArgumentsOf(variables: VariableValues): ArgumentsOf {
  const known = new Map<FieldPlan, Arguments | GraphQLError>();
  return (field) => {
    let given = known.get(field);
    if (given !== undefined) return given;
    try {
      given = field.readArguments(variables);
    } catch (error) {
      given = error as GraphQLError; // getArgumentValues throws nothing else
    }
    known.set(field, given);
    return given;
  };
}

/** Makes all that graphql-js tells a resolver of its field. */
function planInfo(
  { schema, operation, fragments }: Planner,
  { field, parentType }: FieldShape,
  nodes: readonly FieldNode[],
): FieldPlan['info'] {
  return (variableValues, path) => ({
    fieldName: field.name,
    fieldNodes: nodes,
    returnType: field.type,
    parentType,
    path,
    schema,
    fragments,
    rootValue: undefined,
    operation,
    variableValues,
    getAbortSignal: () => undefined,
    getAsyncHelpers: () => ASYNC_HELPERS,
  });
}

/** Nobody waits for the end of work that a resolver leaves behind. */
const ASYNC_HELPERS: ReturnType<GraphQLResolveInfo['getAsyncHelpers']> = {
  promiseAll: (values) => Promise.all(values),
  track: () => {},
};
