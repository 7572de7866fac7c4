import { GraphQLError, type GraphQLSchema, getVariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import { createArgumentsOf } from '../schema/plan.ts';
import { createCost } from './cost.ts';
import type { PreparedOperation } from './documents.ts';
import { type Answer, createPlannedExecution, type PlanRequest } from './planned-execution.ts';

/** A request that has an operation to run. */
interface OperationRequest {
  readonly prepared: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: Context;
  /** Called before that, with the number of objects that the answer may have; waits until there is room for them. */
  readonly reserve: (objects: number) => Promise<void> | undefined;
  /** Called when the operation is about to run. */
  readonly onRun: () => void;
}

/** How many variables may be wrong before the rest of them is left out. */
const ERRORS_MAX = 5;

/** Gives what runs a valid operation of a schema within the limits. Answers are made of `things`, in messages. */
export function createExecution(
  schema: GraphQLSchema,
  things: string,
  runPlan: (request: PlanRequest) => Promise<Answer> = createPlannedExecution(things),
): (request: OperationRequest) => Promise<Answer> {
  const costOf = createCost(schema, things);
  return async ({ prepared, variables: given, context, reserve, onRun }) => {
    const { operation, isMutation } = prepared;
    const definitions = operation.variableDefinitions ?? [];
    const read = getVariableValues(schema, definitions, given, { maxErrors: ERRORS_MAX });
    if (read.errors) return { errors: read.errors };
    const { variableValues: variables } = read;
    const argumentsOf = createArgumentsOf(variables);
    let request: PlanRequest;
    try {
      const plan = prepared.plan(variables);
      const room = reserve(costOf(plan, isMutation, argumentsOf));
      request = { plan, isMutation, variables, argumentsOf, context };
      if (room !== undefined) await room;
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] }; // a limit, or a condition that is no Boolean
      throw error;
    }
    onRun();
    return runPlan(request);
  };
}
