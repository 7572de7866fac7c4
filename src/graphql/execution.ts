import { execute, GraphQLError, getVariableValues, type VariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import type { OperationPlan } from '../schema/plan.ts';
import { schema } from '../schema/schema.ts';
import { costError, readArguments } from './cost.ts';
import type { PreparedOperation } from './documents.ts';
import { LIMITS, limitError } from './limits.ts';
import type { Answer, PlannedExecution } from './planned-execution.ts';

/** A request that has an operation to run. */
export interface OperationRequest {
  readonly prepared: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: Context;
  /** Called when the operation is about to run. */
  readonly onRun: () => void;
}

/** How many variables may be wrong before the rest of them is left out. */
const ERRORS_MAX = 5;

/** Runs a valid operation: by its plan or, for introspection, by graphql-js; the limits are the same for both. */
export async function executeOperation(
  { prepared, variables, context, onRun }: OperationRequest,
  executePlan: PlannedExecution,
): Promise<Answer> {
  const { operation } = prepared;
  const options = { maxErrors: ERRORS_MAX };
  const { variableValues, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, options);
  if (!variableValues) return { errors };
  const plan = readPlan(prepared, variableValues);
  if (plan instanceof GraphQLError) return { errors: [plan] };
  const args = plan.fields.map((field) => readArguments(field, variableValues));
  const refusal = costError(plan, args, variableValues);
  if (refusal) return { errors: [refusal] };
  onRun();
  return withinLimit(
    plan.isPlanned
      ? await executePlan(plan, args, variableValues, context)
      : await executeByGraphqlJs(prepared, variables, context),
  );
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
  { document, operation }: PreparedOperation,
  variables: OperationRequest['variables'],
  contextValue: Context,
): Promise<Answer> {
  const operationName = operation.name?.value ?? null;
  const given = { schema, document, operationName, variableValues: variables, contextValue };
  const { data, errors = [] } = await execute(given);
  if (data === undefined) return { errors };
  try {
    return { dataJson: writeWithinLimit(data), errors };
  } catch (error) {
    return { dataJson: 'null', errors: [error as GraphQLError] }; // of writeWithinLimit: what GraphQL gives can be written
  }
}

/** JSON.stringify that ends when the text becomes too long. */
function writeWithinLimit(data: unknown): string {
  let length = 0;
  const count = (key: string, value: unknown) => {
    length += key.length + (typeof value === 'string' ? value.length : 1);
    if (length > LIMITS.responseBytes.most) throw limitError('responseBytes');
    return value;
  };
  return JSON.stringify(data, count);
}

/** While data is written its characters are counted; in UTF-8 it can have three times as many bytes. */
function withinLimit(answer: Answer): Answer {
  const { most } = LIMITS.responseBytes;
  const { dataJson = '' } = answer;
  if (dataJson.length * 3 <= most || Buffer.byteLength(dataJson) <= most) return answer;
  return { dataJson: 'null', errors: [limitError('responseBytes')] };
}
