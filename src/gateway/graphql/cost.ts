import {
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isIntrospectionType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { ArgumentsOf, FieldPlan, OperationPlan } from '../../lib/graphql-plan/graphql-plan.ts';
import { LIST_LIMIT, pageSizeOf } from '../schema/builder.ts';
import { DOCUMENT_CODES, LIMITS, limitError } from './limits.ts';

/** The most objects of one type in a request: five of the largest pages. */
const OBJECTS_MAX = 5 * LIST_LIMIT.max;

/**
 * The limits of one request for each object type: at most so many objects, and so many selected leaves of them in all. Types with
 * the same noun have the same limits, because a message names the noun.
 */
export function limitsByType(schema: GraphQLSchema) {
  const roots: readonly unknown[] = [schema.getQueryType(), schema.getMutationType()];
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const counted = types.filter((type) => !isIntrospectionType(type) && !roots.includes(type));
  const nounOf = ({ name, extensions }: GraphQLObjectType) =>
    (extensions as { countedAs?: string }).countedAs ?? `${name} objects`; // set by `countedAs`
  const leavesOf = (type: GraphQLObjectType) =>
    Object.values(type.getFields()).filter((field) => isLeafType(getNamedType(field.type))).length;
  return new Map(
    counted.map((type) => {
      const plural = nounOf(type);
      const leaves = counted.filter((other) => nounOf(other) === plural).map(leavesOf);
      // Room for all leaves of each object, and for `__typename`, which caches of clients select.
      return [type, { plural, maxObjects: OBJECTS_MAX, maxLeaves: OBJECTS_MAX * (Math.max(...leaves) + 1) }] as const;
    }),
  );
}

/**
 * Creates the cost analysis of operations. Before an operation runs, it gives upper bounds: `objects`, the count of the type with
 * most objects, and `reads`, the concurrent reads of the store. Throws GraphQLError when a limit is exceeded. `plural` is the noun
 * for the service's objects in messages.
 */
export function createCost(schema: GraphQLSchema, plural: string) {
  const limits = limitsByType(schema);
  return (plan: OperationPlan, isMutation: boolean, argumentsOf: ArgumentsOf) => {
    if (plan.fieldCount > LIMITS.fields.max) throw limitError('fields');
    const cost: Cost = new Map();
    let reads = 0;
    for (const field of plan.fields) reads += addField(cost, field, argumentsOf, 1);
    const answerBytes = isMutation ? addInputs(cost, plan, argumentsOf) : 0;
    let highest = 0;
    for (const [type, { objects, leaves }] of cost) {
      const limit = limits.get(type);
      if (limit === undefined) continue;
      const { plural: noun, maxObjects, maxLeaves } = limit;
      if (objects > maxObjects) throw costError(maxObjects, objects, noun);
      if (leaves > maxLeaves) throw costError(maxLeaves, leaves, `values of ${noun}`);
      highest = Math.max(highest, objects);
    }
    if (answerBytes > LIMITS.responseBytes.max) throw limitError('responseBytes', { plural });
    return { objects: highest, reads: isMutation ? 1 : reads }; // the fields of a mutation run one after another
  };
}

/**
 * The error codes that only GraphQL has, for documentation: each with its meaning or an example of its message. `plural` selects
 * the type for the examples of cost limits.
 */
export function describeRefusals(schema: GraphQLSchema, plural: string) {
  const documentErrors = Object.entries(DOCUMENT_CODES).map(([code, message]) => ({ code, message }));
  const names = Object.keys(LIMITS) as (keyof typeof LIMITS)[]; // it has no other keys
  const limit = [...limitsByType(schema).values()].find((candidate) => candidate.plural === plural);
  const costErrors = limit && [
    costError(limit.maxObjects, limit.maxObjects + 1, plural),
    costError(limit.maxLeaves, limit.maxLeaves + 1, `values of ${plural}`),
  ];
  const errors = [...(costErrors ?? []), ...names.map((name) => limitError(name, { plural }))]; // the last one is the guide's example
  return [...documentErrors, ...errors.map(({ message, extensions }) => ({ code: String(extensions.code), message }))];
}

function costError(max: number, actual: number, what: string): GraphQLError {
  const counted = Number.isFinite(actual) ? actual : 'any number of';
  const message = `The request may touch ${counted} ${what}; the limit is ${max}.`;
  return new GraphQLError(message, { extensions: { code: LIMITS.fields.code } });
}

/** The objects and leaves that a request may touch, by type. */
type Cost = Map<GraphQLObjectType, { objects: number; leaves: number }>;

function add(cost: Cost, type: GraphQLObjectType, objects: number, leaves: number): void {
  const before = cost.get(type);
  cost.set(type, { objects: (before?.objects ?? 0) + objects, leaves: (before?.leaves ?? 0) + leaves });
}

/**
 * Adds the objects of a field on `parents` parent objects, and those of its selection. Returns their reads. `page` is the page size
 * of an enclosing field such as a connection: it bounds the first list below it that has no resolver, such as `edges`.
 */
function addField(cost: Cost, field: FieldPlan, argumentsOf: ArgumentsOf, parents: number, page?: number): number {
  const { selection, isList, resolver } = field;
  if (selection === undefined || parents === 0) return 0;
  const args = argumentsOf(field);
  const ownPage = args instanceof Error ? 0 : pageSizeOf(args); // nothing is read for a field whose arguments are refused
  const listPage = resolver === undefined ? page : ownPage;
  const count = isList ? parents * (listPage ?? Number.POSITIVE_INFINITY) : parents; // a list without a page size has no bound
  add(cost, selection.type, count, count * selection.leafCount);
  const pageWithin = isList ? undefined : (ownPage ?? page);
  let reads = resolver === undefined ? 0 : parents;
  for (const inner of selection.fields) reads += addField(cost, inner, argumentsOf, count, pageWithin);
  return reads;
}

/**
 * Adds the input values of each field of a mutation as leaves of the field's type. Returns an upper bound of the answer in bytes,
 * as if each leaf were the whole input: a mutation must not change data and then fail because its answer is too large.
 */
function addInputs(cost: Cost, { fields }: OperationPlan, argumentsOf: ArgumentsOf): number {
  let answerBytes = 0;
  for (const field of fields) {
    const args = argumentsOf(field);
    if (args instanceof Error) continue;
    if (field.type) add(cost, field.type, 0, countValues(args));
    const copies = 1 + (field.selection?.leafCount ?? 1);
    answerBytes += Buffer.byteLength(JSON.stringify(args)) * copies;
    if (answerBytes > LIMITS.responseBytes.max) break; // one large variable may be the input of many fields
  }
  return answerBytes;
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 0);
}
