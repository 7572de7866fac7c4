import { setImmediate as turn } from 'node:timers/promises';
import { GraphQLError, locatedError, responsePathAsArray, type VariableValues } from 'graphql';
import { errorsBelow } from './field-shape.ts';
import { type FieldPlan, type OperationPlan, pathOf, type SelectionPlan } from './plan.ts';
import { type ArgumentsOf, createArgumentsOf, NO_VARIABLES } from './planned-arguments.ts';
import type { Path } from './planned-info.ts';

/*
 * Runs the resolvers of a plan and writes their results as JSON:
 * https://spec.graphql.org/September2025/#sec-Executing-Fields. Resolvers run in the order of graphql-js, so that answers have
 * the same errors. One exception: when promises of several list items reject, any of these errors may be the reported one.
 */

/** The most `locations` of an error. */
export const LOCATIONS_MAX = 5;

/** The answer to an operation. */
export interface Result {
  /** The data as JSON, which may be `null`. Undefined for a request error: the operation did not run. */
  readonly dataJson?: string;
  readonly errors: readonly GraphQLError[];
}

/** The bound of an answer's data, and the error of an answer beyond it. */
export interface AnswerBound {
  readonly bytesMax: number;
  readonly tooLarge: GraphQLError;
}

/** The values to run a plan with. */
interface RunValues<Context> {
  readonly variables: VariableValues;
  readonly argumentsOf: ArgumentsOf;
  readonly context: Context;
}

/** A plan and the values to run it with. */
export interface PlanRequest<Context> extends RunValues<Context> {
  readonly plan: OperationPlan;
  readonly isMutation: boolean;
}

/** What all runs of one execution or value writer share. */
interface Shared extends AnswerBound {
  /** The JSON of the last frozen list. Equal queries in one batch get the same list, often one right after another. */
  readonly lastList: { field?: FieldPlan; list?: unknown; text: string };
}

/** The state of one run of a plan, or of one field's completion. */
interface Run {
  readonly shared: Shared;
  readonly values: RunValues<unknown>;
  readonly errors: GraphQLError[];
  /** The response positions that errors made null; undefined stands for `data` itself. */
  readonly nulled: Set<Path | undefined>;
  /** How many more characters the answer may have. */
  left: number;
  /** Whether the answer is complete. Promises that settle later start no further resolvers. */
  isOver: boolean;
}

/** The most errors of an answer with which an introspection field keeps its value. */
const INTROSPECTION_ERRORS_MAX = 100;

const NO_LIST = { field: undefined, list: undefined, text: '' };

/** The longest JSON that `lastList` keeps, in characters. */
const CACHED_LENGTH_MAX = 65_536;

/** Beyond this length, in characters, an answer is finished in turns of its own, so that none takes too long. */
const LONG_TEXT = 2 ** 20;

/** Creates a function that runs a plan. */
export function createPlannedExecution<Context>(bound: AnswerBound) {
  const shared: Shared = { ...bound, lastList: { text: '' } };
  return (request: PlanRequest<Context>): Promise<Result> => {
    const complete = request.isMutation ? completeSerially : completeFields;
    return execute(shared, request, (run) => complete(run, request.plan, undefined, undefined));
  };
}

/**
 * Creates a function that completes the resolved value of a field as JSON. No field below it may have variables. An error at any
 * position, nullable ones too, rejects the whole value with the error that the resolver threw.
 */
export function createValueWriter<Context>(field: FieldPlan, bound: AnswerBound) {
  const shared: Shared = { ...bound, lastList: { text: '' } };
  return async (value: unknown, context: Context): Promise<string> => {
    const values = { variables: NO_VARIABLES, argumentsOf: createArgumentsOf(NO_VARIABLES, context), context };
    const { dataJson = '', errors } = await execute(shared, values, (run) => complete(run, field, value, undefined));
    if (errors[0]) throw originalError(errors[0]);
    return dataJson;
  };
}

/** Unwraps an error: execution wraps what a resolver throws in GraphQLErrors. */
export function originalError(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? originalError(error.originalError) : error;
}

async function execute(shared: Shared, values: RunValues<unknown>, complete: (run: Run) => Text): Promise<Result> {
  const { bytesMax, tooLarge } = shared;
  const left = bytesMax; // a character takes at least one byte
  const run: Run = { shared, values, errors: [], nulled: new Set(), left, isOver: false };
  try {
    const dataJson = await complete(run);
    run.isOver = true;
    // Writing a long answer, joining its parts (`byteLength` does) and copying them each take a turn of the event loop.
    if (dataJson.length > LONG_TEXT) await turn();
    // A character takes at most three bytes in UTF-8, so the bytes of a short answer need no count.
    if (dataJson.length * 3 > bytesMax) {
      if (Buffer.byteLength(dataJson) > bytesMax) throw tooLarge;
      await turn();
    }
    return { dataJson, errors: run.errors };
  } catch (thrown) {
    if (thrown === tooLarge) return { dataJson: 'null', errors: [tooLarge] };
    addError(run, thrown as GraphQLError, undefined); // `handleError` throws nothing else
    return { dataJson: 'null', errors: run.errors };
  } finally {
    run.isOver = true;
  }
}

/** Counts characters of the answer. Throws `tooLarge`. */
function count(run: Run, length: number): void {
  run.left -= length;
  if (run.left < 0) throw run.shared.tooLarge;
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
async function completeSerially(run: Run, { fields, tail, error }: SelectionPlan): Promise<string> {
  if (error !== undefined) throw error;
  let text = '';
  for (const field of fields) text += withHead(run, field, await completeField(run, field, undefined, undefined));
  return text + tail;
}

/** Completes the fields of an object in parallel. Throws or rejects when a non-null field has an error. */
function completeFields(run: Run, selection: SelectionPlan, object: unknown, path: Path | undefined): Text {
  const { fields, tail, error } = selection;
  if (error !== undefined) throw error;
  const pieces: Pieces = { late: undefined, text: '' };
  for (const field of fields) {
    const value = completeField(run, field, object, path);
    add(pieces, typeof value === 'string' ? withHead(run, field, value) : laterWithHead(run, field, value));
  }
  count(run, tail.length);
  pieces.text += tail;
  return join(pieces);
}

/** A field's value behind its name; nothing for a null that the answer leaves out. */
function withHead(run: Run, { head, omitsNull, selection }: FieldPlan, value: string): string {
  if (omitsNull && value === 'null') return '';
  count(run, head.length + (selection === undefined ? value.length : 0)); // a value with a selection is counted already
  return head + value;
}

// Closures stand in functions of their own: in the loop above each field would cost a context, promise or not.
function laterWithHead(run: Run, field: FieldPlan, value: Promise<string>): Promise<string> {
  return value.then((text) => withHead(run, field, text));
}

function handleLater(run: Run, field: FieldPlan, path: Path, completed: Promise<string>): Promise<string> {
  return completed.catch((thrown) => handleError(run, field, path, thrown));
}

/** Resolves and completes a field; `prev` is the path of its object. Throws or rejects when a non-null field has an error. */
function completeField(run: Run, field: FieldPlan, object: unknown, prev: Path | undefined): Text {
  let value: unknown;
  try {
    value = field.resolver ? resolve(run, field, object, prev) : (object as Properties)[field.property]; // a value with a selection is an object
    // The usual leaf is written here: `complete` would find the same.
    if (field.selection === undefined && typeof value !== 'object' && value !== undefined)
      return field.writeLeaf(value);
  } catch (thrown) {
    return handleError(run, field, pathOf(field, prev), thrown);
  }
  return complete(run, field, value, prev);
}

function resolve(run: Run, field: FieldPlan, object: unknown, prev: Path | undefined): unknown {
  const { argumentsOf, context, variables } = run.values;
  const args = argumentsOf(field);
  if (args instanceof Error) throw args;
  return field.resolver?.(object, args, context, field.info(variables, pathOf(field, prev)));
}

type Properties = Readonly<Record<string, unknown>>;

/**
 * Completes the value of a field or, with a number as `key`, an item of its list; `prev` is the path of its object or list.
 * Errors become null if the position is nullable. For a leaf, a path is made only when an error or a promise needs it.
 */
function complete(run: Run, field: FieldPlan, value: unknown, prev: Path | undefined, key?: number): Text {
  const path = field.selection && pathOf(field, prev, key);
  try {
    if (isPromise(value)) return completeLater(run, field, value, path ?? pathOf(field, prev));
    const completed = completeValue(run, field, value, path);
    if (typeof completed === 'string') return completed;
    return handleLater(run, field, path ?? pathOf(field, prev), completed);
  } catch (thrown) {
    ignoreItems(value);
    return handleError(run, field, path ?? pathOf(field, prev), thrown);
  }
}

async function completeLater(run: Run, field: FieldPlan, value: Promise<unknown>, path: Path): Promise<string> {
  let resolved: unknown;
  try {
    resolved = await value;
    if (run.isOver) throw new Error('The answer is complete already.');
    const completed = completeValue(run, field, resolved, path);
    return typeof completed === 'string' ? completed : await completed; // no await for a text: saves a microtask
  } catch (thrown) {
    ignoreItems(resolved);
    return handleError(run, field, path, thrown);
  }
}

/** Ignores the promises in a list that is not completed: an item that rejects later would end the process as unhandled. */
function ignoreItems(value: unknown): void {
  if (Array.isArray(value) || value instanceof Set)
    for (const item of value) if (isPromise(item)) item.then(undefined, () => {});
}

/** GraphQL §6.4.3 CompleteValue. `path` is undefined for a leaf only. */
function completeValue(run: Run, field: FieldPlan, value: unknown, path: Path | undefined): Text {
  const { selection, isList } = field;
  if (typeof value === 'object' && value instanceof Error) throw value;
  if (value === null || value === undefined) {
    if (mayBeNull(field, path)) return 'null';
    throw new Error(`Cannot return null for non-nullable field ${field.parentType}.${field.field.name}.`);
  }
  if (selection === undefined) {
    if (typeof value === 'object') addErrorsBelow(run, value);
    return field.writeLeaf(value);
  }
  if (isList && !isItem(path)) return completeList(run, field, value, path);
  return completeFields(run, selection, value, path);
}

/** Adds the errors below an introspection field. Throws the first when they are too many: aliases can multiply them. */
function addErrorsBelow({ errors }: Run, value: object): void {
  const below = errorsBelow.get(value);
  if (below === undefined) return;
  if (errors.length + below.length > INTROSPECTION_ERRORS_MAX) throw below[0];
  errors.push(...below);
}

function completeList(run: Run, field: FieldPlan, list: unknown, path: Path | undefined): Text {
  const { nulled, shared } = run;
  const { lastList } = shared;
  if (lastList.list === list && lastList.field === field) {
    count(run, lastList.text.length);
    return lastList.text;
  }
  if (!Array.isArray(list)) return completeIterable(run, field, list, path);
  const nulledBefore = nulled.size;
  const pieces: Pieces = { late: undefined, text: '[' };
  for (let key = 0; key < list.length; key++) {
    if (key > 0) pieces.text += ',';
    add(pieces, complete(run, field, list[key], path, key));
  }
  pieces.text += ']';
  const text = join(pieces);
  const isWhole = typeof text === 'string' && field.selection?.isExposed && nulled.size === nulledBefore;
  if (isWhole && text.length <= CACHED_LENGTH_MAX && Object.isFrozen(list)) {
    // Equal queries are answered in one turn of the event loop. Kept longer, the rows of long names would be counted by no share.
    if (lastList.list === undefined) setImmediate(() => Object.assign(lastList, NO_LIST));
    Object.assign(lastList, { field, list, text });
  }
  return text;
}

/** Completes a list that is no Array, such as a Set. As in GraphQL.js, a string is none. */
function completeIterable(run: Run, field: FieldPlan, list: unknown, path: Path | undefined): Text {
  if (typeof list !== 'object' || list === null || !(Symbol.iterator in list))
    throw new Error(`Expected Iterable, but did not find one for field "${field.parentType}.${field.field.name}".`);
  const items: unknown[] = [];
  try {
    for (const item of list as Iterable<unknown>) items.push(item); // an iterator that throws may have given promises
    return completeList(run, field, items, path);
  } catch (thrown) {
    ignoreItems(items);
    throw thrown;
  }
}

const isItem = (path: Path | undefined): boolean => typeof path?.key === 'number';

function mayBeNull({ isNullable, isItemNullable }: FieldPlan, path: Path | undefined): boolean {
  return isItem(path) ? isItemNullable : isNullable;
}

/** GraphQL §6.4.4 Handling Execution Errors: an error makes a nullable position null; any other position throws it to its parent. */
function handleError(run: Run, field: FieldPlan, path: Path, thrown: unknown): string {
  if (thrown === run.shared.tooLarge || run.isOver) throw thrown;
  const error = locatedError(thrown, field.nodes.slice(0, LOCATIONS_MAX), responsePathAsArray(path));
  if (!mayBeNull(field, path)) throw error;
  addError(run, error, path);
  return 'null';
}

/** Adds an error that made a position null. GraphQL §6.4.4: it is dropped when a parent of the position is null already. */
function addError({ errors, nulled }: Run, error: GraphQLError, path: Path | undefined): void {
  let outer = path;
  while (outer !== undefined && !nulled.has(outer)) outer = outer.prev;
  nulled.add(path);
  if (outer === undefined) errors.push(error);
}

/** Whether a value is a thenable. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'; // any object may be asked
}
