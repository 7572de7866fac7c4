import { type GraphQLError, locatedError, responsePathAsArray, type VariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import {
  type ArgumentsOf,
  type FieldPlan,
  type OperationPlan,
  type Path,
  pathOf,
  type SelectionPlan,
} from '../schema/plan.ts';
import { LIMITS, LOCATIONS_MAX, limitError } from './limits.ts';

/*
 * Runs the resolvers of a plan and writes their results as JSON:
 * https://spec.graphql.org/September2025/#sec-Executing-Fields. Resolvers run in the order of graphql-js, so that answers
 * have the same errors; when two items of a list fail later, either may be the one that ends it. Only promises are awaited.
 */

/** The answer to an operation. It has no data if the operation was refused before it ran. */
export interface Answer {
  /** The data as JSON; it may be `null`. */
  readonly dataJson?: string;
  readonly errors: readonly GraphQLError[];
}

/** A plan and the values that it is run with. */
export interface PlanRequest {
  readonly plan: OperationPlan;
  readonly isMutation: boolean;
  readonly variables: VariableValues;
  readonly argumentsOf: ArgumentsOf;
  readonly context: Context;
}

/** One run of a plan. */
interface Run extends PlanRequest {
  readonly lastList: LastList;
  readonly errors: GraphQLError[];
  /** The paths that errors made null; undefined stands for `data` itself. */
  readonly nulled: Set<Path | undefined>;
  /** How many more characters the answer may have. */
  left: number;
  /** Whether the answer is complete: then fields in flight resolve no further fields. */
  isOver: boolean;
}

/** The text of one list, over all runs: requests that share a statement get the same frozen list, one after another. */
interface LastList {
  field?: FieldPlan;
  list?: unknown;
  text: string;
}

/** The longest cached text of a list, in characters. */
const CACHED_LENGTH_MAX = 65_536;

const TOO_LARGE = new Error('The answer is too large.');

/** Creates a function that runs a plan. `things` names the objects of answers in messages. */
export function createPlannedExecution(things: string): (request: PlanRequest) => Promise<Answer> {
  const lastList: LastList = { text: '' };
  return async (request) => {
    const errors: GraphQLError[] = [];
    const nulled = new Set<Path | undefined>();
    const run: Run = { ...request, lastList, errors, nulled, left: LIMITS.responseBytes.most, isOver: false };
    const complete = request.isMutation ? completeSerially : completeFields;
    try {
      const dataJson = await complete(run, request.plan, undefined, undefined);
      requireSpace(dataJson);
      return { dataJson, errors };
    } catch (thrown) {
      if (thrown === TOO_LARGE) return { dataJson: 'null', errors: [limitError('responseBytes', { things })] };
      note(run, thrown as GraphQLError, undefined); // `handleError` throws nothing else
      return { dataJson: 'null', errors };
    } finally {
      run.isOver = true;
    }
  };
}

/** Throws TOO_LARGE for a text with too many bytes of UTF-8, which are at most three for each character. */
function requireSpace(text: string): void {
  const { most } = LIMITS.responseBytes;
  if (text.length * 3 > most && Buffer.byteLength(text) > most) throw TOO_LARGE;
}

/** Gives a text of the answer after counting its length. Throws TOO_LARGE. */
function count(run: Run, text: string): string {
  run.left -= text.length;
  if (run.left < 0) throw TOO_LARGE;
  return text;
}

/** A text that may come later. */
type Text = string | Promise<string>;

/** A text that is written piece by piece. */
interface Pieces {
  /** The pieces that come later, each with the text before it. */
  late: { readonly before: string; readonly piece: Promise<string> }[] | undefined;
  /** The text after them. */
  text: string;
}

function add(pieces: Pieces, piece: Text): void {
  if (typeof piece === 'string') {
    pieces.text += piece;
  } else {
    piece.catch(() => {}); // an error elsewhere may keep `join` from awaiting it
    pieces.late ??= [];
    pieces.late.push({ before: pieces.text, piece });
    pieces.text = '';
  }
}

function join({ late, text }: Pieces): Text {
  if (late === undefined) return text;
  const [first, another] = late;
  if (first && !another) return first.piece.then((piece) => first.before + piece + text); // faster than Promise.all
  return Promise.all(late.map(({ piece }) => piece)).then(
    // A sum: Array.join would copy every text once more.
    (texts) => late.reduce((whole, { before }, index) => whole + before + texts[index], '') + text,
  );
}

/** GraphQL §6.2.2: the root fields of a mutation run one after the other. */
async function completeSerially(run: Run, { fields, tail }: SelectionPlan): Promise<string> {
  let text = '';
  for (const field of fields) text += count(run, field.head) + (await completeField(run, field, undefined, undefined));
  return text + count(run, tail);
}

/** Completes all fields of an object at once. Throws or rejects when a non-null field has an error. */
function completeFields(run: Run, { fields, tail }: SelectionPlan, object: unknown, path: Path | undefined): Text {
  const pieces: Pieces = { late: undefined, text: '' };
  for (const field of fields) {
    pieces.text += count(run, field.head);
    add(pieces, completeField(run, field, object, path));
  }
  pieces.text += count(run, tail);
  return join(pieces);
}

/** Completes a field of the object at the path `prev`. Throws or rejects when a non-null field has an error. */
function completeField(run: Run, field: FieldPlan, object: unknown, prev: Path | undefined): Text {
  const { resolver } = field;
  if (resolver === undefined) return completeProperty(run, field, object as Properties, prev); // the value of a field with a selection
  const path = pathOf(field, prev);
  let value: unknown;
  try {
    const given = run.argumentsOf(field);
    if (given instanceof Error) throw given;
    value = resolver(object, given, run.context, field.info(run.variables, path));
  } catch (thrown) {
    return handleError(run, field, path, false, thrown);
  }
  return complete(run, field, value, path, false);
}

type Properties = Readonly<Record<string, unknown>>;

function completeProperty(run: Run, field: FieldPlan, object: Properties, prev: Path | undefined): Text {
  const value = object[field.property];
  if (field.selection !== undefined || value === undefined || typeof value === 'object')
    return complete(run, field, value, pathOf(field, prev), false);
  // Most values of an answer are such leaves: they get a path only when they fail.
  try {
    return count(run, field.writeLeaf(value));
  } catch (thrown) {
    return handleError(run, field, pathOf(field, prev), false, thrown);
  }
}

/** Completes the value of a field or, with `isItem`, of an item of its list. */
function complete(run: Run, field: FieldPlan, value: unknown, path: Path, isItem: boolean): Text {
  try {
    if (isPromise(value)) return completeLater(run, field, value, path, isItem);
    const completed = completeValue(run, field, value, path, isItem);
    if (typeof completed === 'string') return completed;
    return completed.catch((thrown) => handleError(run, field, path, isItem, thrown));
  } catch (thrown) {
    return handleError(run, field, path, isItem, thrown);
  }
}

async function completeLater(run: Run, field: FieldPlan, value: Promise<unknown>, path: Path, isItem: boolean) {
  try {
    const given = await value;
    if (run.isOver) throw new Error('The answer is complete already.');
    const completed = completeValue(run, field, given, path, isItem);
    return typeof completed === 'string' ? completed : await completed; // no await for a text: saves a microtask
  } catch (thrown) {
    return handleError(run, field, path, isItem, thrown);
  }
}

/** GraphQL §6.4.3 */
function completeValue(run: Run, field: FieldPlan, value: unknown, path: Path | undefined, isItem: boolean): Text {
  const { selection, isList } = field;
  if (value instanceof Error) throw value;
  if (value === null || value === undefined) {
    if (mayBeNull(field, isItem)) return 'null';
    throw new Error(`Cannot return null for non-nullable field ${field.parentType}.${field.field.name}.`);
  }
  if (selection === undefined) return count(run, field.writeLeaf(value));
  return isList && !isItem ? completeList(run, field, value, path) : completeFields(run, selection, value, path);
}

function completeList(run: Run, field: FieldPlan, list: unknown, prev: Path | undefined): Text {
  if (!Array.isArray(list)) {
    throw new Error(`Expected Iterable, but did not find one for field "${field.parentType}.${field.field.name}".`);
  }
  const { lastList, errors } = run;
  if (lastList.list === list && lastList.field === field) return count(run, lastList.text);
  const errorsBefore = errors.length;
  const pieces: Pieces = { late: undefined, text: '[' };
  for (let key = 0; key < list.length; key++) {
    if (key > 0) pieces.text += ',';
    add(pieces, complete(run, field, list[key], { prev, key, typename: undefined }, true));
  }
  pieces.text += ']';
  const text = join(pieces);
  const isOfList = field.selection?.isExposed && errors.length === errorsBefore; // and not of arguments or errors
  if (isOfList && typeof text === 'string' && text.length <= CACHED_LENGTH_MAX && Object.isFrozen(list)) {
    Object.assign(lastList, { field, list, text });
  }
  return text;
}

function mayBeNull({ isNullable, isItemNullable }: FieldPlan, isItem: boolean): boolean {
  return isItem ? isItemNullable : isNullable;
}

/** GraphQL §6.4.4: gives `null` for an error in a nullable position, else throws it to the position around it. */
function handleError(run: Run, field: FieldPlan, path: Path, isItem: boolean, thrown: unknown): string {
  if (thrown === TOO_LARGE || run.isOver) throw thrown;
  const error = locatedError(thrown, field.nodes.slice(0, LOCATIONS_MAX), responsePathAsArray(path));
  if (!mayBeNull(field, isItem)) throw error;
  note(run, error, path);
  return 'null';
}

/** Notes an error that made a path null. GraphQL §6.4.4 drops it when an error has already made a path around it null. */
function note({ errors, nulled }: Run, error: GraphQLError, path: Path | undefined): void {
  for (let outer = path; outer !== undefined; outer = outer.prev) if (nulled.has(outer)) return;
  nulled.add(path);
  errors.push(error);
}

/** Whether a value is a promise of any library. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
