import type { GraphQLError, GraphQLObjectType } from 'graphql';
import type { FieldPlan, OperationPlan } from '../schema/plan.ts';
import type { ArgumentsOf } from '../schema/planned-arguments.ts';
import type { Weights } from '../schema/weights.ts';
import { answerLimitError, costLimitError, LIMITS, limitError } from './limits.ts';

/**
 * What an operation asks for, before anything of it runs: how many objects of one type its answer may have, and the refusal
 * of one that would cost too much. `things` is what answers are made of, in messages.
 */
export function costOf(
  { weights, things }: { readonly weights: Weights; readonly things: string },
  plan: OperationPlan,
  isMutation: boolean,
  argumentsOf: ArgumentsOf,
): { objects: number; refusal?: GraphQLError } {
  if (plan.fieldCount > LIMITS.fields.most) return { objects: 0, refusal: limitError('fields') };
  const cost: Cost = new Map();
  for (const field of plan.fields) addField(cost, field, argumentsOf, 1, undefined);
  const answerBytes = isMutation ? addInput(cost, plan, argumentsOf) : 0;
  let most = 0;
  for (const [type, { objects, leaves }] of cost) {
    const weight = weights.get(type);
    if (weight === undefined) continue;
    const { mostObjects, mostLeaves } = weight;
    if (objects > mostObjects) return { objects, refusal: costLimitError(objects, weight.things, mostObjects) };
    if (leaves > mostLeaves) {
      return { objects, refusal: costLimitError(leaves, `values of ${weight.things}`, mostLeaves) };
    }
    most = Math.max(most, objects);
  }
  if (answerBytes > LIMITS.responseBytes.most) return { objects: most, refusal: answerLimitError(things) };
  return { objects: most };
}

/** What a request asks for of the objects of each type. */
type Cost = Map<GraphQLObjectType, { objects: number; leaves: number }>;

function add(cost: Cost, type: GraphQLObjectType, objects: number, leaves: number): void {
  const asked = cost.get(type);
  if (asked === undefined) {
    cost.set(type, { objects, leaves });
  } else {
    asked.objects += objects;
    asked.leaves += leaves;
  }
}

/**
 * Adds the objects that a field gives `parents` objects, and all within them. `page` is how many the nearest field with
 * pages has, as long as no list has been counted by it: a list that is a property, such as `edges`, is such a page.
 */
function addField(
  cost: Cost,
  field: FieldPlan,
  argumentsOf: ArgumentsOf,
  parents: number,
  page: number | undefined,
): void {
  const { selection, isList, resolver } = field;
  if (selection === undefined || parents === 0) return;
  const ownPage = pageOf(field, argumentsOf);
  const listPage = resolver === undefined ? page : ownPage;
  const count = isList ? parents * (listPage ?? Number.POSITIVE_INFINITY) : parents; // what nothing bounds has no end
  add(cost, selection.type, count, count === 0 ? 0 : count * selection.leafCount);
  const pageWithin = isList ? undefined : (ownPage ?? page);
  for (const inner of selection.fields) addField(cost, inner, argumentsOf, count, pageWithin);
}

/** How many objects a page of the field has at most; undefined for a field without pages. What its rules refuse never reaches the database. */
function pageOf(field: FieldPlan, argumentsOf: ArgumentsOf): number | undefined {
  if (field.page === undefined) return undefined;
  const { name, least, most } = field.page;
  const given = argumentsOf(field);
  const size = given instanceof Error ? undefined : given[name];
  return typeof size === 'number' && size >= least && size <= most ? size : 0;
}

/** What of an answer need not be counted: a mutation has fewer fields than such parts would make too much. */
const SMALL_BYTES = LIMITS.responseBytes.most / LIMITS.tokens.most;

/**
 * Adds what the fields of a mutation write to the database, to the types that they give; gives the bytes of the answer
 * if it all comes back there, for that must be known before.
 */
function addInput(cost: Cost, { fields }: OperationPlan, argumentsOf: ArgumentsOf): number {
  let answerBytes = 0;
  for (const field of fields) {
    const given = argumentsOf(field);
    if (given instanceof Error) continue;
    const { values, characters } = addSize({ values: 0, characters: 0 }, given);
    if (field.type) add(cost, field.type, 0, values);
    const copies = 1 + (field.selection?.leafCount ?? 1);
    // A character has six bytes of JSON at most; what could be too much with those is counted exactly.
    const bytes = characters * 6 * copies < SMALL_BYTES ? 0 : Buffer.byteLength(JSON.stringify(given));
    answerBytes += bytes * copies;
  }
  return answerBytes;
}

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
