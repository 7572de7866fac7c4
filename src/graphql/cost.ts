import {
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isIntrospectionType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { LIST_LIMIT } from '../schema/builder.ts';
import type { ArgumentsOf, FieldPlan, OperationPlan } from '../schema/plan.ts';
import { answerLimitError, LIMITS, limitError } from './limits.ts';

/** What one request may ask for of the objects of a type. */
export interface Weight {
  /** What the objects are called in a message: `books`. */
  readonly things: string;
  /** How many of them: five of the largest pages. */
  readonly mostObjects: number;
  /** How many of their leaves: so many objects as a whole. */
  readonly mostLeaves: number;
}

const PAGES = 5;

/** What may be asked for of each object type of a schema: a type that is added changes no other one's. */
export function weighTypes(schema: GraphQLSchema): ReadonlyMap<GraphQLObjectType, Weight> {
  const roots: readonly unknown[] = [schema.getQueryType(), schema.getMutationType()];
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const counted = types.filter((type) => !isIntrospectionType(type) && !roots.includes(type));
  const mostObjects = PAGES * LIST_LIMIT.most;
  return new Map(
    counted.map((type) => {
      const { countedAs: things = `${type.name} objects` } = type.extensions as { countedAs?: string }; // see countedAs
      const leaves = Object.values(type.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
      return [type, { things, mostObjects, mostLeaves: mostObjects * leaves.length }];
    }),
  );
}

/**
 * Gives what counts the objects that an operation asks for, before anything of it runs: those of the type that it asks for
 * most of. It throws GraphQLError when the operation asks for too much. `things` is what answers are made of, in messages.
 */
export function createCost(schema: GraphQLSchema, things: string) {
  const weights = weighTypes(schema);
  return (plan: OperationPlan, isMutation: boolean, argumentsOf: ArgumentsOf): number => {
    if (plan.fieldCount > LIMITS.fields.most) throw limitError('fields');
    const cost: Cost = new Map();
    for (const field of plan.fields) addField(cost, field, argumentsOf, 1, undefined);
    const answerBytes = isMutation ? addInputs(cost, plan, argumentsOf) : 0;
    let most = 0;
    for (const [type, { objects, leaves }] of cost) {
      const weight = weights.get(type);
      if (weight === undefined) continue;
      requireAtMost(weight.mostObjects, objects, weight.things);
      requireAtMost(weight.mostLeaves, leaves, `values of ${weight.things}`);
      most = Math.max(most, objects);
    }
    if (answerBytes > LIMITS.responseBytes.most) throw answerLimitError(things);
    return most;
  };
}

function requireAtMost(most: number, actual: number, what: string): void {
  if (actual <= most) return;
  const counted = Number.isFinite(actual) ? actual : 'any number of';
  const message = `The request may touch ${counted} ${what}; the limit is ${most}.`;
  throw new GraphQLError(message, { extensions: { code: LIMITS.fields.code } });
}

/** What a request asks for of the objects of each type. */
type Cost = Map<GraphQLObjectType, { objects: number; leaves: number }>;

function add(cost: Cost, type: GraphQLObjectType, objects: number, leaves: number): void {
  const before = cost.get(type);
  cost.set(type, { objects: (before?.objects ?? 0) + objects, leaves: (before?.leaves ?? 0) + leaves });
}

/**
 * Adds the objects that a field gives `parents` objects, and all within them. `page` is the page size of the nearest field
 * around it, unless a list has used that size already: a list that is a property, such as `edges`, has so many items.
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

/** The page size of a field; undefined for a field without pages. A size that its rules refuse costs nothing: 0. */
function pageOf(field: FieldPlan, argumentsOf: ArgumentsOf): number | undefined {
  if (field.page === undefined) return undefined;
  const given = argumentsOf(field);
  const size = given instanceof Error ? 0 : Number(given[field.page.name]);
  return size >= 0 && size <= field.page.most ? size : 0;
}

/**
 * Adds what the fields of a mutation write to the database, to the types that they give. Gives the bytes of the answer if
 * each of its leaves had the whole input: what could not be answered must not be written.
 */
function addInputs(cost: Cost, { fields }: OperationPlan, argumentsOf: ArgumentsOf): number {
  let answerBytes = 0;
  for (const field of fields) {
    const given = argumentsOf(field);
    if (given instanceof Error) continue;
    if (field.type) add(cost, field.type, 0, countValues(given));
    const copies = 1 + (field.selection?.leafCount ?? 1);
    answerBytes += Buffer.byteLength(JSON.stringify(given)) * copies;
  }
  return answerBytes;
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 0);
}
