import { type GraphQLSchema, getVariableValues } from 'graphql';
import { createCost } from '../../src/gateway/graphql/cost.ts';
import type { createDocuments } from '../../src/gateway/graphql/documents.ts';
import { createArgumentsOf, NO_VARIABLES } from '../../src/lib/graphql-plan/graphql-plan.ts';

/** Creates a function that gives the message by which the cost refuses a document; undefined when it does not. */
export function createRefusalOf(schema: GraphQLSchema, plural: string, prepare: ReturnType<typeof createDocuments>) {
  const costOf = createCost(schema, plural);
  return (text: string, given: Record<string, unknown> = {}): string | undefined => {
    const { operations, errors } = prepare(text);
    const [prepared] = operations;
    if (!prepared) throw new Error(errors.join());
    const definitions = prepared.operation.variableDefinitions ?? [];
    const { variableValues = NO_VARIABLES } = getVariableValues(schema, definitions, given);
    const plan = prepared.plan(variableValues);
    try {
      costOf(
        plan,
        prepared.isMutation,
        createArgumentsOf(variableValues, { caller: { keyId: '1', ownerId: '1', mayWrite: true } }),
      );
    } catch (refusal) {
      return (refusal as Error).message;
    }
    return undefined;
  };
}
