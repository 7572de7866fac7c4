import type {
  FieldNode,
  GraphQLField,
  GraphQLObjectType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
  VariableValues,
} from 'graphql';
import type { Fragments } from './field-collection.ts';

/** A place in an answer: a response name or the index in a list, and where that stands. */
export type Path = GraphQLResolveInfo['path'];

/** What a plan knows of a field before it runs. */
interface PlannedField {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Fragments;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly parentType: GraphQLObjectType;
}

/** All that graphql-js tells a resolver of its field. */
export type MakeInfo = (variables: VariableValues, path: Path) => GraphQLResolveInfo;

/** Makes what a resolver is told; only the variables and the place differ between its calls. */
export function resolveInfo({ schema, operation, fragments, field, nodes, parentType }: PlannedField): MakeInfo {
  const constant = {
    fieldName: field.name,
    fieldNodes: nodes,
    returnType: field.type,
    parentType,
    schema,
    fragments: Object.fromEntries(fragments),
    rootValue: undefined,
    operation,
    getAbortSignal: () => undefined,
    getAsyncHelpers: () => ASYNC_HELPERS,
  };
  return (variableValues, path) => ({ ...constant, path, variableValues });
}

/** Nobody waits for the end of work that a resolver leaves behind. */
const ASYNC_HELPERS: ReturnType<GraphQLResolveInfo['getAsyncHelpers']> = {
  promiseAll: (values) => Promise.all(values),
  track: () => {},
};
