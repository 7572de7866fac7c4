import {
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { type FieldShape, type LeafWriter, shapeFields } from './field-shape.ts';
import { type CoerceArguments, NO_VARIABLES, planArguments } from './planned-arguments.ts';
import { type CreateInfo, type Path, type PlannedOperation, planInfo } from './planned-info.ts';

/*
 * A plan is an operation after field collection: its fields, how their arguments are coerced and how their values are written.
 * graphql-js walks the document again for each object; a plan is made once, and serves many requests.
 */

/** A selected field. */
export interface FieldPlan extends FieldShape {
  readonly responseName: string;
  /** The constant JSON before the value: `,"name":`. Members for `__typename` selected before this field are part of it. */
  readonly head: string;
  readonly nodes: readonly FieldNode[];
  /** The selection of its objects; undefined for a leaf. */
  readonly selection: SelectionPlan | undefined;
  /** Whether the answer leaves out the field when it is null. */
  readonly omitsNull: boolean;
  readonly coerceArguments: CoerceArguments;
  /** Makes the `info` argument of its resolver. */
  readonly info: CreateInfo;
}

/** The path of a field, or with a number as `key` of an item of its list; `prev` is the path of its object or list. */
export function pathOf(field: FieldPlan, prev: Path | undefined, key: Path['key'] = field.responseName): Path {
  return { prev, key, typename: typeof key === 'number' ? undefined : field.parentType.name };
}

/** The selected fields of an object type. `__typename` has no FieldPlan: it is constant JSON, in `head` or `tail`. */
export interface SelectionPlan {
  readonly type: GraphQLObjectType;
  readonly fields: readonly FieldPlan[];
  /** The constant JSON after the last field. */
  readonly tail: string;
  /** The number of selected leaves, without those of nested objects. */
  readonly leafCount: number;
  /** Whether no selected field, at any depth, has a resolver: all of them only expose properties. */
  readonly isExposed: boolean;
  /** Why the selection of each object fails: the value of a condition is null. Then there are no fields. */
  readonly error: GraphQLError | undefined;
}

/** An operation, as a selection of its root type. */
export interface OperationPlan extends SelectionPlan {
  /** The number of fields at all depths. */
  readonly fieldCount: number;
  /** The number of their nodes: equal fields of a selection are one field. */
  readonly nodeCount: number;
}

/** The most fields of a plan: nested fragments can multiply fields. Planning stops there; a plan with more must not run. */
export const PLANNED_FIELDS_MAX = 2000;

/** Plans an operation of a valid document. The plan holds for the given values of the variables in `@skip` and `@include`. */
export type PlanOperation = ReturnType<typeof createPlanner>;

/** How answers are written. `omitsNull` leaves out fields that are null, which GraphQL itself does not. */
export interface AnswerFormat {
  readonly leafWriter: LeafWriter;
  readonly omitsNull: boolean;
}

/** Creates the planner of a schema. Throws Error when a field of the schema cannot be planned. */
export function createPlanner(schema: GraphQLSchema, { leafWriter, omitsNull }: AnswerFormat) {
  const shapes = shapeFields(schema, leafWriter);
  return (
    { definitions }: DocumentNode,
    operation: OperationDefinitionNode,
    variables = NO_VARIABLES,
  ): OperationPlan => {
    const rootType = schema.getRootType(operation.operation);
    if (!rootType) throw new Error(`The schema has no ${operation.operation}.`);
    const named = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    const fragments = Object.fromEntries(named.map((fragment) => [fragment.name.value, fragment]));
    const counts = { fieldCount: 0, nodeCount: 0 };
    const state: PlanState = { schema, shapes, omitsNull, operation, fragments, variables, counts };
    const selection = planSelection(state, rootType, [operation]);
    return { ...selection, ...counts };
  };
}

/** The state of planning one operation. */
interface PlanState extends PlannedOperation {
  readonly shapes: ReturnType<typeof shapeFields>;
  readonly omitsNull: boolean;
  readonly variables: VariableValues;
  readonly counts: { fieldCount: number; nodeCount: number };
}

function planSelection(
  state: PlanState,
  type: GraphQLObjectType,
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
): SelectionPlan {
  const fields: FieldPlan[] = [];
  let head = '{'; // `{` is in the head of the first field, so with `omitsNull` it must be one that is never null
  let leafCount = 0;
  const { collected, error } = collectFields(nodes, state);
  for (const [responseName, fieldNodes] of collected) {
    if (++state.counts.fieldCount > PLANNED_FIELDS_MAX) break;
    state.counts.nodeCount += fieldNodes.length;
    const [node] = fieldNodes;
    head += `${head === '{' ? '' : ','}"${responseName}":`;
    if (node.name.value === '__typename') {
      head += `"${type.name}"`;
      leafCount++;
      continue;
    }
    const field = state.schema.getField(type, node.name.value);
    const shape = field && state.shapes.get(field);
    if (shape === undefined) throw new Error(`${type}.${node.name.value} is no field of the schema.`);
    const selection = shape.type && planSelection(state, shape.type, fieldNodes);
    if (selection === undefined) leafCount++;
    fields.push({
      ...shape,
      responseName,
      head,
      nodes: fieldNodes,
      selection,
      omitsNull: state.omitsNull && shape.isNullable,
      coerceArguments: planArguments(shape.field, node),
      info: planInfo(state, shape, fieldNodes),
    });
    head = '';
  }
  const tail = `${head}}`; // nothing cuts or copies a head: the document's plans share the names in it
  const isExposed = fields.every(({ resolver, selection }) => resolver === undefined && selection?.isExposed !== false);
  return { type, fields, tail, leafCount, isExposed, error };
}

/** GraphQL §6.3.2 CollectFields, without interfaces and unions: field nodes by response name, in order; or a condition's error. */
function collectFields(nodes: readonly Pick<FieldNode, 'selectionSet'>[], state: PlanState) {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
  const spread = new Set<string>();
  const collect = (selectionSet: SelectionSetNode | undefined): void => {
    for (const selection of selectionSet?.selections ?? []) {
      if (!isIncluded(selection, state.variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        fields.get(responseName)?.push(selection) ?? fields.set(responseName, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet); // without interfaces, a valid type condition always applies
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        collect(state.fragments[selection.name.value]?.selectionSet);
      }
    }
  };
  try {
    for (const { selectionSet } of nodes) collect(selectionSet);
    return { collected: fields, error: undefined };
  } catch (error) {
    state.counts.fieldCount += Math.ceil((error as GraphQLError).message.length / 500); // it is kept in the place of fields
    // getDirectiveValues throws nothing else. Until its stack is set, V8 keeps all that was collected.
    return { collected: [], error: Object.assign(error as GraphQLError, { stack: '' }) };
  }
}

function isIncluded(selection: SelectionNode, variables: VariableValues): boolean {
  if (!selection.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !== false;
}
