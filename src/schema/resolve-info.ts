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

/** What a plan knows of a field before it runs. */
interface PlannedField {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Fragments;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly parentType: GraphQLObjectType;
  readonly responseName: string;
}

/** All that graphql-js tells the resolver of a root field; only the variables differ between requests. */
export function resolveInfo(planned: PlannedField) {
  const { schema, operation, fragments, field, nodes, parentType, responseName } = planned;
  const constant = {
    fieldName: field.name,
    fieldNodes: nodes,
    returnType: field.type,
    parentType,
    path: { prev: undefined, key: responseName, typename: parentType.name },
    schema,
    fragments: Object.fromEntries(fragments),
    rootValue: undefined,
    operation,
    getAbortSignal: () => undefined,
    getAsyncHelpers: () => ASYNC_HELPERS,
  };
  return (variableValues: VariableValues): GraphQLResolveInfo => ({ ...constant, variableValues });
}

/** Nobody waits for the end of work that a resolver leaves behind. */
const ASYNC_HELPERS: ReturnType<GraphQLResolveInfo['getAsyncHelpers']> = {
  promiseAll: (values) => Promise.all(values),
  track: () => {},
};
