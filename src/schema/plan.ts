import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLEnumType,
  type GraphQLField,
  GraphQLID,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Context } from './context.ts';
import { schema } from './schema.ts';

/*
 * A plan does for the usual documents (root fields that give objects of exposed leaves) what graphql-js does for
 * all: the same fields, the same resolvers, but the document is walked once and not for each row. What has
 * directives, introspection or deeper objects has no plan, and graphql-js runs it.
 */

/** A leaf of an object: the property it is exposed from, and how its value is written as JSON. */
export interface LeafPlan {
  readonly responseName: string;
  /** What stands before its value in the JSON of its object, such as `{"id":` or `,"name":`. */
  readonly head: string;
  /** Undefined for `__typename`, which is the same for every object. */
  readonly property: string | undefined;
  writeJson(value: unknown): string;
}

/** A root field of an operation. */
export interface RootPlan {
  readonly responseName: string;
  readonly node: FieldNode;
  readonly nodes: readonly FieldNode[];
  readonly field: GraphQLField<unknown, unknown>;
  readonly isNullable: boolean;
  readonly isList: boolean;
  readonly leaves: readonly LeafPlan[];
  /** Runs the resolver with arguments that are coerced already. */
  resolve(args: Readonly<Record<string, unknown>>, context: Context): unknown;
}

/** An operation with the plans of its root fields. */
export interface OperationPlan {
  readonly operation: OperationDefinitionNode;
  readonly fields: readonly RootPlan[];
}

/** The plan of an operation of a valid document, or undefined when it is for graphql-js. */
export function planOperation(document: DocumentNode, operation: OperationDefinitionNode): OperationPlan | undefined {
  const rootType = schema.getRootType(operation.operation);
  const fields = rootType && collectFields(document, operation.selectionSet);
  if (!rootType || !fields) return undefined;
  const plans: RootPlan[] = [];
  for (const [responseName, nodes] of fields) {
    const plan = planRoot(document, rootType, responseName, nodes);
    if (plan === undefined) return undefined;
    plans.push(plan);
  }
  return { operation, fields: plans };
}

function planRoot(
  document: DocumentNode,
  rootType: GraphQLObjectType,
  responseName: string,
  nodes: readonly FieldNode[],
): RootPlan | undefined {
  const [node] = nodes;
  const field = node && rootType.getFields()[node.name.value];
  if (!node || !field?.resolve) return undefined;
  const { isList, objectType } = unwrap(field.type);
  const leaves = objectType && planLeaves(document, objectType, nodes);
  if (!leaves) return undefined;
  const resolver = field.resolve;
  // What of graphql-js's info our resolvers and Pothos's wrappers could ask for; none asks for more.
  const info = { fieldName: field.name, fieldNodes: nodes, returnType: field.type, parentType: rootType, schema };
  return {
    responseName,
    node,
    nodes,
    field,
    isNullable: !isNonNullType(field.type),
    isList,
    leaves,
    resolve: (args, context) => resolver(undefined, args, context, info as unknown as GraphQLResolveInfo),
  };
}

function planLeaves(document: DocumentNode, type: GraphQLObjectType, nodes: readonly FieldNode[]) {
  const leaves = new Map<string, Omit<LeafPlan, 'head'>>();
  for (const { selectionSet } of nodes) {
    const fields = selectionSet && collectFields(document, selectionSet);
    if (!fields) return undefined;
    for (const [responseName, [node]] of fields) {
      const leaf = node && planLeaf(type, responseName, node.name.value);
      if (!leaf) return undefined;
      leaves.set(responseName, leaves.get(responseName) ?? leaf);
    }
  }
  return [...leaves.values()].map((leaf, index) => ({
    ...leaf,
    head: `${index === 0 ? '{' : ','}"${leaf.responseName}":`,
  }));
}

function planLeaf(type: GraphQLObjectType, responseName: string, fieldName: string) {
  if (fieldName === '__typename') return { responseName, property: undefined, writeJson: () => `"${type.name}"` };
  const field = type.getFields()[fieldName];
  // Pothos marks what merely exposes a property, https://pothos-graphql.dev/docs/guide/fields#exposing-fields
  const property: unknown = field?.extensions.pothosExposedField;
  const writeJson = field && leafWriter(getNullableType(field.type));
  return typeof property === 'string' && writeJson ? { responseName, property, writeJson } : undefined;
}

function leafWriter(type: GraphQLOutputType): LeafPlan['writeJson'] | undefined {
  if (type === GraphQLID) return (id) => `"${id}"`; // an Int64: digits need no escaping
  if (type === GraphQLString) return JSON.stringify;
  if (!(type instanceof GraphQLEnumType)) return undefined;
  const words = new Map(type.getValues().map(({ name, value }) => [value, `"${name}"`]));
  return (value) => words.get(value) ?? 'null';
}

function unwrap(type: GraphQLOutputType): { isList: boolean; objectType: GraphQLObjectType | undefined } {
  const outer = getNullableType(type);
  const inner = isListType(outer) ? getNullableType(outer.ofType) : outer;
  return { isList: isListType(outer), objectType: isObjectType(inner) ? inner : undefined };
}

/** GraphQL §6.3.2 CollectFields, for selections without directives; undefined when there are some. */
function collectFields(
  document: DocumentNode,
  selectionSet: SelectionSetNode,
  fields = new Map<string, FieldNode[]>(),
  visitedFragments = new Set<string>(),
): Map<string, FieldNode[]> | undefined {
  for (const selection of selectionSet.selections) {
    if (selection.directives?.length) return undefined;
    if (selection.kind === Kind.FIELD) {
      const responseName = (selection.alias ?? selection.name).value;
      fields.set(responseName, [...(fields.get(responseName) ?? []), selection]);
      continue;
    }
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      if (visitedFragments.has(selection.name.value)) continue;
      visitedFragments.add(selection.name.value);
    }
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : findFragment(document, selection.name.value);
    // Our types are all objects: a condition on another type would not be valid here.
    if (!inner || !collectFields(document, inner.selectionSet, fields, visitedFragments)) return undefined;
  }
  return fields;
}

function findFragment(document: DocumentNode, name: string): FragmentDefinitionNode | undefined {
  const isIt = (definition: DocumentNode['definitions'][number]): definition is FragmentDefinitionNode =>
    definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name && !definition.directives?.length;
  return document.definitions.find(isIt);
}
