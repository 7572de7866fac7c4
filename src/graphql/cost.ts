import {
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLObjectType,
  OperationTypeNode,
  type VariableValues,
} from 'graphql';
import type { FieldPlan, OperationPlan } from '../schema/plan.ts';
import { rulesOf } from '../schema/rules.ts';
import type { Weights } from '../schema/weights.ts';
import { answerLimitError, costLimitError, LIMITS } from './limits.ts';

/** The coerced arguments of a field, or the reason why it will not run. */
export type Arguments = Readonly<Record<string, unknown>> | GraphQLError;

/** Coerces the arguments of a field. */
export function readArguments(field: FieldPlan, variables: VariableValues): Arguments {
  try {
    return field.readArguments(variables);
  } catch (error) {
    return error as GraphQLError; // getArgumentValues throws nothing else
  }
}

/** What costs are counted by. */
export interface CostParts {
  readonly weights: Weights;
  /** What answers are made of, in messages. */
  readonly things: string;
}

/** What a request asks for of the objects of a type. */
interface Asked {
  objects: number;
  leaves: number;
}

type Cost = Map<GraphQLObjectType, Asked>;

/** The refusal of an operation that would cost too much, before anything of it runs. `args` are those of its root fields. */
export function costError(
  { weights, things }: CostParts,
  { operation, fields }: OperationPlan,
  args: readonly Arguments[],
  variables: VariableValues,
): GraphQLError | undefined {
  const cost: Cost = new Map();
  let answerBytes = 0;
  for (const [index, field] of fields.entries()) {
    const given = args[index] ?? {};
    addCost(cost, field, given, variables, 1);
    if (operation.operation !== OperationTypeNode.MUTATION || given instanceof Error) continue;
    // What is added is written to the database, and back into the answer, whose size must be known before.
    const { values, characters } = addSize({ values: 0, characters: 0 }, given);
    add(cost, field, 0, values);
    // A character has six bytes of JSON at most; what could be too much with those is counted exactly.
    const bytes = characters * 6 * (1 + field.leafCount) < SMALL_BYTES ? 0 : Buffer.byteLength(JSON.stringify(given));
    answerBytes += bytes * (1 + field.leafCount);
  }
  for (const [type, { objects, leaves }] of cost) {
    const weight = weights.get(type);
    if (weight === undefined) continue;
    if (objects > weight.mostObjects) return costLimitError(objects, weight.things, weight.mostObjects);
    if (leaves > weight.mostLeaves) return costLimitError(leaves, `values of ${weight.things}`, weight.mostLeaves);
  }
  return answerBytes > LIMITS.responseBytes.most ? answerLimitError(things) : undefined;
}

function addCost(cost: Cost, field: FieldPlan, args: Arguments, variables: VariableValues, parents: number): void {
  const count = parents * (field.isList ? lengthOf(field, args) : 1);
  add(cost, field, count, count * field.leafCount);
  for (const object of field.objects) addCost(cost, object, readArguments(object, variables), variables, count);
}

function add(cost: Cost, { type }: FieldPlan, objects: number, leaves: number): void {
  if (type === undefined) return;
  const asked = cost.get(type);
  if (asked === undefined) {
    cost.set(type, { objects, leaves });
  } else {
    asked.objects += objects;
    asked.leaves += leaves;
  }
}

/** How many objects a list may give: its `limit`. A list that has none has no end. */
function lengthOf({ field }: FieldPlan, args: Arguments): number {
  const argument = field.args.find(({ name }) => name === 'limit');
  if (!argument) return Number.POSITIVE_INFINITY;
  const limit = args instanceof Error ? undefined : args.limit;
  return typeof limit === 'number' && isAllowed(argument, limit) ? Math.max(0, limit) : 0;
}

/** Whether the argument's own rules let a value through; what they refuse never reaches the database. */
function isAllowed(argument: GraphQLArgument, value: unknown): boolean {
  return rulesOf(argument).every((rule) => {
    const result = rule['~standard'].validate(value);
    return result instanceof Promise || result.issues === undefined;
  });
}

/** What of an answer need not be counted: a mutation has fewer fields than such parts would make too much. */
const SMALL_BYTES = LIMITS.responseBytes.most / LIMITS.tokens.most;

interface Size {
  values: number;
  characters: number;
}

/** Adds all that is within a value; gives the same size. */
function addSize(size: Size, value: unknown): Size {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) addSize(size, inner);
    return size;
  }
  size.values += 1;
  if (typeof value === 'string') size.characters += value.length;
  return size;
}
