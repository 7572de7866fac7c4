import { setImmediate as turn } from 'node:timers/promises';
import { type GraphQLError, locatedError, responsePathAsArray, type VariableValues } from 'graphql';
import type { Context } from './context.ts';
import {
  type ArgumentsOf,
  createArgumentsOf,
  type FieldPlan,
  NO_VARIABLES,
  type OperationPlan,
  type Path,
  pathOf,
  type SelectionPlan,
} from './plan.ts';
import { originalError } from './rules.ts';

/*
 * Runs the resolvers of a plan and writes their results as JSON, for both APIs:
 * https://spec.graphql.org/September2025/#sec-Executing-Fields. Resolvers run in the order of graphql-js, so that answers have
 * the same errors. One exception: when promises of several list items reject, any of these errors may be the reported one.
 */

/** The most bytes of an answer's data. */
export const ANSWER_BYTES_MAX = 32 * 2 ** 20;

/** The most `locations` of an error. */
export const LOCATIONS_MAX = 5;

/** The answer to an operation. */
export interface Answer {
  /** The data as JSON, which may be `null`. Undefined for a request error: the operation did not run. */
  readonly dataJson?: string;
  readonly errors: readonly GraphQLError[];
}

/** A plan and the values to run it with. */
export interface PlanRequest {
  readonly plan: OperationPlan;
  readonly isMutation: boolean;
  readonly variables: VariableValues;
  readonly argumentsOf: ArgumentsOf;
  readonly context: Context;
}

type RunValues = Pick<PlanRequest, 'variables' | 'argumentsOf' | 'context'>;

/** The state of one run of a plan, or of one field's completion. */
interface Run extends RunValues, Shared {
  readonly errors: GraphQLError[];
  /** The response positions that errors made null; undefined stands for `data` itself. */
  readonly nulled: Set<Path | undefined>;
  /** How many more characters the answer may have. */
  left: number;
  /** Whether the answer is complete. Promises that settle later start no further resolvers. */
  isOver: boolean;
}

/** What all runs of one execution or value writer share. */
interface Shared {
  /** The error of an answer beyond ANSWER_BYTES_MAX. */
  readonly tooLarge: GraphQLError;
  /** The JSON of the last frozen list. Equal queries in one batch get the same list, often one right after another. */
  readonly lastList: { field?: FieldPlan; list?: unknown; text: string };
}

/** The longest JSON that `lastList` keeps, in characters. */
const CACHED_LENGTH_MAX = 65_536;

/** Beyond this length, in characters, an answer is finished in turns of its own, so that none takes too long. */
const LONG_TEXT = 2 ** 20;

/** Creates a function that runs a plan. `tooLarge` is the error of an answer beyond ANSWER_BYTES_MAX. */
export function createPlannedExecution(tooLarge: GraphQLError): (request: PlanRequest) => Promise<Answer> {
  const shared: Shared = { tooLarge, lastList: { text: '' } };
  return (request) => {
    const complete = request.isMutation ? completeSerially : completeFields;
    return execute(shared, request, (run) => complete(run, request.plan, undefined, undefined));
  };
}

/**
 * Creates a function that completes the resolved value of a field as JSON. No field below it may have variables. An error at any
 * position, nullable ones too, rejects the whole value with the error that the resolver threw.
 */
export function createValueWriter(field: FieldPlan, tooLarge: GraphQLError) {
  const shared: Shared = { tooLarge, lastList: { text: '' } };
  const path = pathOf(field, undefined);
  return async (value: unknown, context: Context): Promise<string> => {
    const request = { variables: NO_VARIABLES, argumentsOf: createArgumentsOf(NO_VARIABLES), context };
    const { dataJson = '', errors } = await execute(shared, request, (run) => complete(run, field, value, path, false));
    if (errors[0]) throw originalError(errors[0]);
    return dataJson;
  };
}

async function execute(shared: Shared, values: RunValues, complete: (run: Run) => Text): Promise<Answer> {
  const { variables, argumentsOf, context } = values;
  const { tooLarge, lastList } = shared;
  const errors: GraphQLError[] = [];
  const nulled = new Set<Path | undefined>();
  const left = ANSWER_BYTES_MAX; // a character takes at least one byte
  const run: Run = { variables, argumentsOf, context, tooLarge, lastList, errors, nulled, left, isOver: false };
  try {
    const dataJson = await complete(run);
    run.isOver = true;
    // Writing a long answer, joining its parts (`byteLength` does) and copying them each take a turn of the event loop.
    if (dataJson.length > LONG_TEXT) await turn();
    // A character takes at most three bytes in UTF-8, so the bytes of a short answer need no count.
    if (dataJson.length * 3 > left) {
      if (Buffer.byteLength(dataJson) > left) throw tooLarge;
      await turn();
    }
    return { dataJson, errors };
  } catch (thrown) {
    if (thrown === tooLarge) return { dataJson: 'null', errors: [tooLarge] };
    addError(run, thrown as GraphQLError, undefined); // `handleError` throws nothing else
    return { dataJson: 'null', errors };
  } finally {
    run.isOver = true;
  }
}

/** Counts a text of the answer and returns it. Throws `tooLarge`. */
function count(run: Run, text: string): string {
  run.left -= text.length;
  if (run.left < 0) throw run.tooLarge;
  return text;
}

/** A text, or a promise if it depends on one: only real promises cost a microtask. */
type Text = string | Promise<string>;

/** A text in the making, some of whose pieces are promises. */
interface Pieces {
  /** The pieces that are promises, each with the text before it. */
  late: { readonly before: string; readonly piece: Promise<string> }[] | undefined;
  /** The text after the last promise. */
  text: string;
}

function add(pieces: Pieces, piece: Text): void {
  if (typeof piece === 'string') {
    pieces.text += piece;
  } else {
    piece.catch(() => {}); // an error elsewhere may keep `join` from awaiting it: no unhandled rejection
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
    // Concatenation, not Array.join, which would copy every text once more.
    (texts) => late.reduce((whole, { before }, index) => whole + before + texts[index], '') + text,
  );
}

/** GraphQL §6.2.2: the root fields of a mutation run one after the other. */
async function completeSerially(run: Run, { fields, tail }: SelectionPlan): Promise<string> {
  let text = '';
  for (const field of fields) text += count(run, field.head) + (await completeField(run, field, undefined, undefined));
  return text + count(run, tail);
}

/** Completes the fields of an object in parallel. Throws or rejects when a non-null field has an error. */
function completeFields(run: Run, { fields, tail }: SelectionPlan, object: unknown, path: Path | undefined): Text {
  const pieces: Pieces = { late: undefined, text: '' };
  for (const field of fields) {
    const head = count(run, field.head);
    const value = completeField(run, field, object, path);
    const withHead = (text: string) => (field.omitsNull && text === 'null' ? '' : head + text);
    add(pieces, typeof value === 'string' ? withHead(value) : value.then(withHead));
  }
  pieces.text += count(run, tail);
  return join(pieces);
}

/** Resolves and completes a field; `prev` is the path of its object. Throws or rejects when a non-null field has an error. */
function completeField(run: Run, field: FieldPlan, object: unknown, prev: Path | undefined): Text {
  const { resolver, property } = field;
  const path = pathOf(field, prev);
  let value: unknown;
  try {
    const args = resolver && run.argumentsOf(field);
    if (args instanceof Error) throw args;
    value = args
      ? resolver(object, args, run.context, field.info(run.variables, path))
      : (object as Properties)[property]; // a value with a selection is an object
  } catch (thrown) {
    return handleError(run, field, path, false, thrown);
  }
  return complete(run, field, value, path, false);
}

type Properties = Readonly<Record<string, unknown>>;

/** Completes the value of a field or, with `isItem`, an item of its list. Errors become null if the position is nullable. */
function complete(run: Run, field: FieldPlan, value: unknown, path: Path, isItem: boolean): Text {
  try {
    if (isPromise(value)) return completeLater(run, field, value, path, isItem);
    const completed = completeValue(run, field, value, path, isItem);
    if (typeof completed === 'string') return completed;
    return completed.catch((thrown) => handleError(run, field, path, isItem, thrown));
  } catch (thrown) {
    ignoreItems(value);
    return handleError(run, field, path, isItem, thrown);
  }
}

async function completeLater(run: Run, field: FieldPlan, value: Promise<unknown>, path: Path, isItem: boolean) {
  let resolved: unknown;
  try {
    resolved = await value;
    if (run.isOver) throw new Error('The answer is complete already.');
    const completed = completeValue(run, field, resolved, path, isItem);
    return typeof completed === 'string' ? completed : await completed; // no await for a text: saves a microtask
  } catch (thrown) {
    ignoreItems(resolved);
    return handleError(run, field, path, isItem, thrown);
  }
}

/** Ignores the promises in a list that is not completed: an item that rejects later would end the process as unhandled. */
function ignoreItems(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) if (isPromise(item)) item.then(undefined, () => {});
}

/** GraphQL §6.4.3 CompleteValue. */
function completeValue(run: Run, field: FieldPlan, value: unknown, path: Path | undefined, isItem: boolean): Text {
  const { selection, isList } = field;
  if (value instanceof Error) throw value;
  if (value === null || value === undefined) {
    if (mayBeNull(field, isItem)) return 'null';
    throw new Error(`Cannot return null for non-nullable field ${field.parentType}.${field.field.name}.`);
  }
  if (selection === undefined) return count(run, field.writeLeaf(value));
  const exposed = selection.isExposed ? tryExposed(run, field, value, isItem) : undefined;
  if (exposed !== undefined) return exposed;
  return isList && !isItem ? completeList(run, field, value, path) : completeFields(run, selection, value, path);
}

function completeList(run: Run, field: FieldPlan, list: unknown, prev: Path | undefined): Text {
  if (!Array.isArray(list)) {
    throw new Error(`Expected Iterable, but did not find one for field "${field.parentType}.${field.field.name}".`);
  }
  const pieces: Pieces = { late: undefined, text: '[' };
  for (let key = 0; key < list.length; key++) {
    if (key > 0) pieces.text += ',';
    add(pieces, complete(run, field, list[key], { prev, key, typename: undefined }, true));
  }
  pieces.text += ']';
  return join(pieces);
}

/** `writeExposed` throws it for a promise, or for an invalid value. */
const UNEXPECTED = new Error('A value cannot be written at once.');

/**
 * Fast path for values below which no resolver runs: it writes them synchronously and tracks no paths. Undefined for a value with
 * a promise or an error in it; `completeValue` then takes the slow path, which finds the path of the error.
 */
function tryExposed(run: Run, field: FieldPlan, value: unknown, isItem: boolean): string | undefined {
  const { lastList } = run;
  if (lastList.list === value && lastList.field === field) return count(run, lastList.text);
  try {
    const text = count(run, writeExposed(run, field, value, isItem));
    if (text.length <= CACHED_LENGTH_MAX && Array.isArray(value) && Object.isFrozen(value)) {
      Object.assign(lastList, { field, list: value, text });
    }
    return text;
  } catch (thrown) {
    if (thrown === run.tooLarge) throw thrown;
    return undefined;
  }
}

/** Writes a value whose selection is exposed. Throws for a value that is not of the field's type, or a promise. */
function writeExposed(run: Run, field: FieldPlan, value: unknown, isItem: boolean): string {
  const { selection } = field;
  if (value === null || value === undefined) {
    if (mayBeNull(field, isItem)) return 'null';
    throw UNEXPECTED;
  }
  if (selection === undefined && typeof value !== 'object') return field.writeLeaf(value);
  if (field.isList && !isItem) return writeList(run, field, value);
  if (!isObject(value) || selection === undefined) throw UNEXPECTED;
  let text = '';
  for (const inner of selection.fields) {
    const written = writeExposed(run, inner, value[inner.property], false);
    if (inner.omitsNull && written === 'null') continue;
    text += inner.head + written;
    if (text.length > run.left) throw run.tooLarge;
  }
  return text + selection.tail;
}

function writeList(run: Run, field: FieldPlan, list: unknown): string {
  if (!Array.isArray(list)) throw UNEXPECTED;
  let text = '[';
  for (const item of list) {
    text += (text === '[' ? '' : ',') + writeExposed(run, field, item, true);
    if (text.length > run.left) throw run.tooLarge;
  }
  return `${text}]`;
}

/** Whether a value is an object with properties, and neither a promise nor an error. */
function isObject(value: unknown): value is Properties {
  return typeof value === 'object' && !(value instanceof Error) && value !== null && !('then' in value);
}

function mayBeNull({ isNullable, isItemNullable }: FieldPlan, isItem: boolean): boolean {
  return isItem ? isItemNullable : isNullable;
}

/** GraphQL §6.4.4 Handling Execution Errors: an error makes a nullable position null; any other position throws it to its parent. */
function handleError(run: Run, field: FieldPlan, path: Path, isItem: boolean, thrown: unknown): string {
  if (thrown === run.tooLarge || run.isOver) throw thrown;
  const error = locatedError(thrown, field.nodes.slice(0, LOCATIONS_MAX), responsePathAsArray(path));
  if (!mayBeNull(field, isItem)) throw error;
  addError(run, error, path);
  return 'null';
}

/** Adds an error that made a position null. GraphQL §6.4.4: it is dropped when a parent of the position is null already. */
function addError({ errors, nulled }: Run, error: GraphQLError, path: Path | undefined): void {
  for (let outer = path; outer !== undefined; outer = outer.prev) if (nulled.has(outer)) return;
  nulled.add(path);
  errors.push(error);
}

/** Whether a value is a thenable. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
