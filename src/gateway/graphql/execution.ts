import { GraphQLError, type GraphQLSchema, getVariableValues } from 'graphql';
import {
  createArgumentsOf,
  createPlannedExecution,
  type PlanRequest,
  type Result,
} from '../../lib/graphql-plan/graphql-plan.ts';
import type { AdmittedCall } from '../http/call.ts';
import { ANSWER_BYTES_MAX, type Context } from '../schema/context.ts';
import { createCost } from './cost.ts';
import type { PreparedOperation, PreparedPlan } from './documents.ts';
import { limitError } from './limits.ts';

interface OperationRequest {
  readonly prepared: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: Context;
  readonly reserve: AdmittedCall['reserve'];
  /** The bytes of the body, which has the variables of a POST; those of a GET are never many. */
  readonly bytes: number;
  readonly onRun: (plan: PreparedPlan) => void;
}

const ERRORS_MAX = 5;
/** Up to so many bytes of variables, graphql-js suggests known names for unknown ones: that takes 0.1 ms for each kB of a name. */
const SUGGESTIONS_BYTES = 65_536;

/** Creates a function that runs a valid operation, or refuses it by its cost. `plural` is the noun for objects in messages. */
export function createExecution(
  schema: GraphQLSchema,
  plural: string,
  runPlan: (request: PlanRequest<Context>) => Promise<Result> = createPlannedExecution({
    bytesMax: ANSWER_BYTES_MAX,
    tooLarge: limitError('responseBytes', { plural }),
  }),
): (request: OperationRequest) => Result | Promise<Result> {
  const costOf = createCost(schema, plural);
  return ({ prepared, variables: rawVariables, context, reserve, bytes, onRun }) => {
    const { operation, isMutation } = prepared;
    const definitions = operation.variableDefinitions ?? [];
    const options = { maxErrors: ERRORS_MAX, hideSuggestions: bytes > SUGGESTIONS_BYTES };
    const coerced = getVariableValues(schema, definitions, rawVariables, options);
    if (coerced.errors) return { errors: coerced.errors };
    const { variableValues: variables } = coerced;
    const argumentsOf = createArgumentsOf(variables, context);
    const run = (plan: PreparedPlan) => {
      onRun(plan);
      return runPlan({ plan, isMutation, variables, argumentsOf, context });
    };
    try {
      const plan = prepared.plan(variables);
      const { objects, reads } = costOf(plan, isMutation, argumentsOf);
      const reserved = reserve(objects, reads);
      return reserved === undefined ? run(plan) : reserved.then(() => run(plan));
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] }; // a limit
      throw error;
    }
  };
}
