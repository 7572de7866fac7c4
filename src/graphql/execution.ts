import { GraphQLError, type GraphQLSchema, getVariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import { createArgumentsOf, type OperationPlan } from '../schema/plan.ts';
import { type Answer, createPlannedExecution, type PlanRequest } from '../schema/planned-execution.ts';
import type { AdmittedRequest } from '../web/route.ts';
import { createCost } from './cost.ts';
import type { PreparedOperation } from './documents.ts';
import { limitError } from './limits.ts';

/** A request for an operation. */
interface OperationRequest {
  readonly prepared: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: Context;
  /** Reserves memory for an answer, before the operation runs. */
  readonly reserve: AdmittedRequest['reserve'];
  /** Called before the operation runs. */
  readonly onRun: () => void;
}

/** The most errors about variables in one answer. */
const ERRORS_MAX = 5;

/** Creates a function that runs a valid operation within the limits. `things` names the objects of answers in messages. */
export function createExecution(
  schema: GraphQLSchema,
  things: string,
  runPlan: (request: PlanRequest) => Promise<Answer> = createPlannedExecution(limitError('responseBytes', { things })),
): (request: OperationRequest) => Answer | Promise<Answer> {
  const costOf = createCost(schema, things);
  return ({ prepared, variables: given, context, reserve, onRun }) => {
    const { operation, isMutation } = prepared;
    const definitions = operation.variableDefinitions ?? [];
    const read = getVariableValues(schema, definitions, given, { maxErrors: ERRORS_MAX });
    if (read.errors) return { errors: read.errors };
    const { variableValues: variables } = read;
    const argumentsOf = createArgumentsOf(variables);
    const run = (plan: OperationPlan) => {
      onRun();
      return runPlan({ plan, isMutation, variables, argumentsOf, context });
    };
    try {
      const plan = prepared.plan(variables);
      const { objects, reads } = costOf(plan, isMutation, argumentsOf);
      const room = reserve(objects, reads);
      return room === undefined ? run(plan) : room.then(() => run(plan));
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] }; // a limit, or a condition that is not a Boolean
      throw error;
    }
  };
}
