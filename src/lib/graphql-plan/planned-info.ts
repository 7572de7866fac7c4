import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
  VariableValues,
} from 'graphql';
import type { FieldShape } from './field-shape.ts';

/** A response path as a linked list: its last response name or list index, and the path before that. */
export type Path = GraphQLResolveInfo['path'];

/** Makes the `info` argument of a field's resolver. */
export type CreateInfo = (variables: VariableValues, path: Path) => GraphQLResolveInfo;

/** What is the same for all fields of an operation. */
export interface PlannedOperation {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

/** Creates a function that makes the `info` of a field's resolver. */
export function planInfo(
  { schema, operation, fragments }: PlannedOperation,
  { field, parentType }: FieldShape,
  fieldNodes: readonly FieldNode[],
): CreateInfo {
  const { name: fieldName, type: returnType } = field;
  const planned = { fieldName, fieldNodes, returnType, parentType, schema, fragments, rootValue: undefined, operation };
  return (variableValues, path) => ({ ...planned, variableValues, path, getAbortSignal, getAsyncHelpers });
}

const getAbortSignal = () => undefined;

/** No tracking of promises that a resolver does not await. */
const getAsyncHelpers: GraphQLResolveInfo['getAsyncHelpers'] = () => ({
  promiseAll: (values) => Promise.all(values),
  track: () => {},
});
