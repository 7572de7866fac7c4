import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import type { Context } from './context.ts';
import { collectFields, type Fragments, fragmentsOf } from './field-collection.ts';
import { type LeafPlan, planLeaf } from './leaf-plan.ts';
import { planArguments } from './planned-arguments.ts';
import { resolveInfo } from './resolve-info.ts';

/*
 * A plan says of an operation what graphql-js finds out while it runs one: which fields, with which arguments, written
 * how. The document is walked once and not for each row; the resolvers are the same.
 */

/** A field that gives objects. */
export interface FieldPlan {
  readonly responseName: string;
  /** What stands before its value in the JSON of the data: its name, and all that never changes before it. */
  readonly head: string;
  readonly node: FieldNode;
  readonly nodes: readonly FieldNode[];
  readonly field: GraphQLField<unknown, unknown>;
  readonly isNullable: boolean;
  readonly isList: boolean;
  /** The type of its objects. */
  readonly type: GraphQLObjectType | undefined;
  /** What is written of each of its objects, in this order. */
  readonly leaves: readonly LeafPlan[];
  /** How many leaves are asked for, those included that planned execution cannot write. */
  readonly leafCount: number;
  /** Objects within its objects. */
  readonly objects: readonly FieldPlan[];
  /** Whether planned execution can run it; graphql-js can run every field. */
  readonly isPlanned: boolean;
  /** Its arguments as graphql-js coerces them, in an ordinary object. Throws what graphql-js throws. */
  readArguments(variables: VariableValues): Readonly<Record<string, unknown>>;
  /** Runs the resolver with arguments that are coerced already; gives what it gives, or a promise of it. */
  resolve(args: Readonly<Record<string, unknown>>, context: Context, variables?: VariableValues): unknown;
}

/** An operation with the plans of its root fields; `__typename` is part of their heads. */
export interface OperationPlan {
  readonly operation: OperationDefinitionNode;
  /** Its root fields but introspection. */
  readonly fields: readonly FieldPlan[];
  /** What ends the JSON of the data. */
  readonly tail: string;
  /** Whether planned execution can run it; introspection is for graphql-js. */
  readonly isPlanned: boolean;
}

/** No variable at all. */
export const NO_VARIABLES: VariableValues = { sources: {}, coerced: {} };

/**
 * The plan of an operation of a valid document, for the values that the variables of its conditions have. Throws
 * GraphQLError when one of them is no Boolean.
 */
export type PlanOperation = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables?: VariableValues,
) => OperationPlan;

/** Plans the operations of a schema. */
export function createPlanner(schema: GraphQLSchema): PlanOperation {
  return (document, operation, variables = NO_VARIABLES) =>
    planOperation({ schema, operation, fragments: fragmentsOf(document), variables });
}

function planOperation(planner: Planner): OperationPlan {
  const { schema, operation, variables } = planner;
  const rootType = schema.getRootType(operation.operation);
  if (!rootType) throw new Error(`The schema has no ${operation.operation}.`);
  const fields: FieldPlan[] = [];
  let isPlanned = true;
  let head = '{';
  for (const [responseName, nodes] of collectFields([operation.selectionSet], planner.fragments, variables)) {
    const [node] = nodes;
    if (node?.name.value === '__typename') {
      head += `"${responseName}":"${rootType.name}",`;
      continue;
    }
    const plan = planField(planner, rootType, responseName, nodes, head);
    if (plan === undefined) {
      isPlanned = false; // __schema and __type
      continue;
    }
    fields.push(plan);
    isPlanned &&= plan.isPlanned;
    head = ',';
  }
  const tail = head === '{' ? '{}' : `${head.slice(0, -1)}}`;
  return { operation, fields, tail, isPlanned };
}

/** What all plans of an operation are made from. */
interface Planner {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Fragments;
  readonly variables: VariableValues;
}

function planField(
  planner: Planner,
  parentType: GraphQLObjectType,
  responseName: string,
  nodes: readonly FieldNode[],
  head: string,
): FieldPlan | undefined {
  const [node] = nodes;
  const field = node && parentType.getFields()[node.name.value];
  if (!node || !field) return undefined;
  const nullable = getNullableType(field.type);
  const isList = isListType(nullable);
  const objectType = isList ? getNullableType(nullable.ofType) : nullable;
  const content = isObjectType(objectType) ? planContent(planner, objectType, nodes) : undefined;
  const resolver = field.resolve;
  const info = resolveInfo({ ...planner, field, nodes, parentType, responseName });
  return {
    responseName,
    head: `${head}"${responseName}":`,
    node,
    nodes,
    field,
    isNullable: !isNonNullType(field.type),
    isList,
    type: isObjectType(objectType) ? objectType : undefined,
    leaves: content?.leaves ?? [],
    leafCount: content?.leafCount ?? 1,
    objects: content?.objects ?? [],
    isPlanned: resolver !== undefined && content !== undefined && content.leaves.length === content.count,
    readArguments: planArguments(field, node),
    resolve: (args, context, variables = NO_VARIABLES) => resolver?.(undefined, args, context, info(variables)),
  };
}

/** What is asked for of the objects of a field. */
function planContent(planner: Planner, type: GraphQLObjectType, nodes: readonly FieldNode[]) {
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const selected = collectFields(selectionSets, planner.fragments, planner.variables);
  const leaves: LeafPlan[] = [];
  const objects: FieldPlan[] = [];
  for (const [responseName, leafNodes] of selected) {
    const head = `${leaves.length === 0 ? '{' : ','}"${responseName}":`;
    const leaf = leafNodes[0] && planLeaf(type, responseName, leafNodes[0].name.value, head);
    if (leaf) leaves.push(leaf);
    else if (leafNodes[0]?.selectionSet) {
      const object = planField(planner, type, responseName, leafNodes, '');
      if (object) objects.push(object);
    }
  }
  return { leaves, objects, count: selected.size, leafCount: selected.size - objects.length };
}
