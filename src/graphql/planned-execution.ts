import { type GraphQLError, locatedError, OperationTypeNode, type VariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import type { FieldPlan, OperationPlan } from '../schema/plan.ts';
import type { Arguments } from './cost.ts';
import { answerLimitError, LIMITS } from './limits.ts';

/** What came of an operation. Without data it was refused before anything ran. */
export interface Answer {
  /** The data as JSON, `null` included. */
  readonly dataJson?: string;
  readonly errors: readonly GraphQLError[];
}

/** Runs an operation by its plan, as graphql-js would: the same resolvers, the same data, the same errors. */
export type PlannedExecution = (
  plan: OperationPlan,
  args: readonly Arguments[],
  variables: VariableValues,
  context: Context,
) => Promise<Answer>;

/** Planned execution, with a memory for the lists that requests share. `things` is what answers are made of. */
export function createPlannedExecution(things: string): PlannedExecution {
  const writeList = createListWriter(things);
  return async (plan, args, variables, context) => {
    const errors: GraphQLError[] = [];
    let isLost = false;
    const space = { left: LIMITS.responseBytes.most };
    const run = async (field: FieldPlan, index: number): Promise<string> => {
      try {
        const given = args[index] ?? {};
        if (given instanceof Error) throw given;
        return write(field, await field.resolve(given, context, variables), space, writeList, things);
      } catch (thrown) {
        // A few nodes are enough to find the field by.
        const error = locatedError(thrown, field.nodes.slice(0, NODES_MAX), [field.responseName]);
        // GraphQL §6.4.4: what may not be null takes all data with it; what fails after that is told to nobody.
        if (!isLost) errors.push(error);
        isLost ||= !field.isNullable;
        if (!field.isNullable) throw error;
        return 'null';
      }
    };
    try {
      const serially = plan.operation.operation === OperationTypeNode.MUTATION || plan.fields.length === 1;
      const texts = serially ? await inTurn(plan.fields, run) : await Promise.all(plan.fields.map(run));
      return {
        dataJson: plan.fields.reduceRight((text, { head }, index) => head + texts[index] + text, plan.tail),
        errors,
      };
    } catch {
      return { dataJson: 'null', errors }; // thrown by run, which has told it
    }
  };
}

/** How many places of the document an error names. */
const NODES_MAX = 5;

/** GraphQL §6.2.2: the fields of a mutation run one after the other. */
async function inTurn(
  fields: readonly FieldPlan[],
  run: (field: FieldPlan, index: number) => Promise<string>,
): Promise<string[]> {
  const texts: string[] = [];
  for (const [index, field] of fields.entries()) texts.push(await run(field, index));
  return texts;
}

/** How much an answer may still grow, in characters. */
interface Space {
  left: number;
}

type WriteList = (field: FieldPlan, list: readonly unknown[], most: number) => string;

function write(field: FieldPlan, value: unknown, space: Space, writeList: WriteList, things: string): string {
  if (value == null) {
    if (!field.isNullable) throw new Error(`The resolver of ${field.field.name} gave null.`);
    return 'null';
  }
  const text = field.isList
    ? writeList(field, value as readonly unknown[], space.left) // what the resolver of a list field gives
    : writeObject(field, value, space.left, things);
  space.left -= text.length;
  return text;
}

/** How many texts of lists are kept, and how long they may be, in characters. */
const LISTS_MAX = 4;
const LIST_LENGTH_MAX = 65_536;

/** Requests that shared one query got the same array, one right after the other: its text is written once. */
function createListWriter(things: string): WriteList {
  const kept: { field: FieldPlan; list: readonly unknown[]; text: string }[] = [];
  let next = 0;
  return (field, list, most) => {
    for (const known of kept)
      if (known.list === list && known.field === field && known.text.length <= most) return known.text;
    const text = writeRows(field, list, most, things);
    if (text.length <= LIST_LENGTH_MAX) kept[next++ % LISTS_MAX] = { field, list, text };
    return text;
  };
}

function writeRows(field: FieldPlan, list: readonly unknown[], most: number, things: string): string {
  let text = '[';
  for (const item of list) {
    if (text.length > 1) text += ',';
    text += writeObject(field, item, most - text.length, things);
  }
  return `${text}]`;
}

/** Throws the refusal of an answer that is too large as soon as it is. */
function writeObject({ leaves }: FieldPlan, value: unknown, most: number, things: string): string {
  if (leaves.length === 0) return '{}';
  const object = value as Readonly<Record<string, unknown>>; // what the resolver of an object field gives
  let text = '';
  for (const leaf of leaves) {
    const content = leaf.property === undefined ? '' : object[leaf.property];
    if (content == null && !leaf.isNullable) throw new Error(`A resolver gave no ${leaf.property}.`);
    text += leaf.head + (content == null ? 'null' : leaf.writeJson(content));
    if (text.length > most) throw answerLimitError(things);
  }
  return `${text}}`;
}
