import type {
  DocumentNode,
  FieldNode,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  VariableValues,
} from 'graphql';
import { collectFields, type Fragments, fragmentsOf } from './field-collection.ts';
import { type FieldShape, type FieldShapes, shapeFields } from './field-shape.ts';
import { planArguments, type ReadArguments } from './planned-arguments.ts';
import { type MakeInfo, resolveInfo } from './resolve-info.ts';

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
  readonly readArguments: ReadArguments;
  /** What its resolver is told beside the arguments. */
  readonly info: MakeInfo;
}

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
  readonly operation: OperationDefinitionNode;
  /** How many fields it has at all depths. */
  readonly fieldCount: number;
  /** Whether planned execution can run it; introspection is for graphql-js, and is no part of the plan. */
  readonly isPlanned: boolean;
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
  return (document, operation, variables = NO_VARIABLES) => {
    const rootType = schema.getRootType(operation.operation);
    if (!rootType) throw new Error(`The schema has no ${operation.operation}.`);
    const fragments = fragmentsOf(document);
    const planner: Planner = { schema, shapes, operation, fragments, variables, fieldCount: 0, isPlanned: true };
    const selection = planSelection(planner, rootType, [operation]);
    return { ...selection, operation, fieldCount: planner.fieldCount, isPlanned: planner.isPlanned };
  };
}

/** What all plans of an operation are made from. */
interface Planner {
  readonly schema: GraphQLSchema;
  readonly shapes: FieldShapes;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Fragments;
  readonly variables: VariableValues;
  fieldCount: number;
  isPlanned: boolean;
}

type Selecting = Pick<FieldNode, 'selectionSet'>;

function planSelection(planner: Planner, type: GraphQLObjectType, nodes: readonly Selecting[]): SelectionPlan {
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields: FieldPlan[] = [];
  let head = '{';
  let leafCount = 0;
  for (const [responseName, fieldNodes] of collectFields(selectionSets, planner.fragments, planner.variables)) {
    if (++planner.fieldCount > PLANNED_FIELDS_MAX) break;
    const name = fieldNodes[0]?.name.value ?? '';
    if (name === '__typename') {
      head += `"${responseName}":"${type.name}",`;
      leafCount++;
      continue;
    }
    const field = type.getFields()[name];
    const shape = field && planner.shapes.get(field);
    if (shape === undefined) {
      planner.isPlanned = false; // __schema and __type
      continue;
    }
    const plan = planField(planner, shape, { responseName, head: `${head}"${responseName}":`, nodes: fieldNodes });
    if (plan.selection === undefined) leafCount++;
    fields.push(plan);
    head = ',';
  }
  const tail = head === '{' ? '{}' : `${head.slice(0, -1)}}`;
  return { type, fields, tail, leafCount, isExposed: fields.every(isExposed) };
}

function isExposed({ resolver, selection }: FieldPlan): boolean {
  return resolver === undefined && selection?.isExposed !== false;
}

function planField(
  planner: Planner,
  shape: FieldShape,
  asked: Pick<FieldPlan, 'responseName' | 'head' | 'nodes'>,
): FieldPlan {
  const [node] = asked.nodes;
  const isResolved = shape.resolver !== undefined && node !== undefined;
  return {
    ...shape,
    ...asked,
    selection: shape.type && planSelection(planner, shape.type, asked.nodes),
    readArguments: isResolved ? planArguments(shape.field, node) : noArguments,
    info: isResolved ? resolveInfo({ ...planner, ...shape, nodes: asked.nodes }) : noInfo,
  };
}

const NO_ARGUMENTS = {};

function noArguments() {
  return NO_ARGUMENTS;
}

function noInfo(): never {
  throw new Error('A field without a resolver asks for no info.');
}
