import { execute, GraphQLError, type GraphQLSchema, getVariableValues, type VariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import type { OperationPlan } from '../schema/plan.ts';
import { createArgumentsOf } from '../schema/planned-arguments.ts';
import { weighTypes } from '../schema/weights.ts';
import { costOf } from './cost.ts';
import type { PreparedOperation } from './documents.ts';
import { answerLimitError, LIMITS } from './limits.ts';
import { type Answer, createPlannedExecution } from './planned-execution.ts';

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

/**
 * Gives what runs a valid operation of a schema: by its plan or, for introspection, by graphql-js; the limits are the same for
 * both. Answers are made of `things`, in messages.
 */
export function createExecution(schema: GraphQLSchema, things: string): (request: OperationRequest) => Promise<Answer> {
  const executePlan = createPlannedExecution(things);
  const cost = { weights: weighTypes(schema), things };
  const tooLarge = () => answerLimitError(things);
  return async ({ prepared, variables, context, reserve, onRun }) => {
    const { operation } = prepared;
    const options = { maxErrors: ERRORS_MAX };
    const definitions = operation.variableDefinitions ?? [];
    const { variableValues, errors } = getVariableValues(schema, definitions, variables, options);
    if (!variableValues) return { errors };
    const plan = readPlan(prepared, variableValues);
    if (plan instanceof GraphQLError) return { errors: [plan] };
    const argumentsOf = createArgumentsOf(variableValues);
    const { objects, refusal } = costOf(cost, plan, prepared.isMutation, argumentsOf);
    if (refusal) return { errors: [refusal] };
    const room = reserve(objects);
    if (room !== undefined) await room;
    onRun();
    return withinLimit(
      plan.isPlanned
        ? await executePlan({ plan, isMutation: prepared.isMutation, variables: variableValues, argumentsOf, context })
        : await executeByGraphqlJs(schema, prepared, variables, context, tooLarge),
      tooLarge,
    );
  };
}

/** The plan, or the reason why there is none: a condition that is null, as GraphQL §5.8.5 lets `Boolean = true` be. */
function readPlan(prepared: PreparedOperation, variables: VariableValues): OperationPlan | GraphQLError {
  try {
    return prepared.plan(variables);
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

async function executeByGraphqlJs(
  schema: GraphQLSchema,
  { document, operation }: PreparedOperation,
  variables: OperationRequest['variables'],
  contextValue: Context,
  tooLarge: () => GraphQLError,
): Promise<Answer> {
  const operationName = operation.name?.value ?? null;
  const given = { schema, document, operationName, variableValues: variables, contextValue };
  const { data, errors = [] } = await execute(given);
  if (data === undefined) return { errors };
  try {
    return { dataJson: writeWithinLimit(data, tooLarge), errors };
  } catch (error) {
    return { dataJson: 'null', errors: [error as GraphQLError] }; // of writeWithinLimit: what GraphQL gives can be written
  }
}

/** JSON.stringify that ends when the text becomes too long. */
function writeWithinLimit(data: unknown, tooLarge: () => GraphQLError): string {
  let length = 0;
  const count = (key: string, value: unknown) => {
    length += key.length + (typeof value === 'string' ? value.length : 1);
    if (length > LIMITS.responseBytes.most) throw tooLarge();
    return value;
  };
  return JSON.stringify(data, count);
}

/** While data is written its characters are counted; in UTF-8 it can have three times as many bytes. */
function withinLimit(answer: Answer, tooLarge: () => GraphQLError): Answer {
  const { most } = LIMITS.responseBytes;
  const { dataJson = '' } = answer;
  if (dataJson.length * 3 <= most || Buffer.byteLength(dataJson) <= most) return answer;
  return { dataJson: 'null', errors: [tooLarge()] };
}
