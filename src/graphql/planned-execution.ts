import { type GraphQLError, locatedError, type VariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import type { ArgumentsOf, FieldPlan, OperationPlan, Path, SelectionPlan } from '../schema/plan.ts';
import { answerLimitError, LIMITS, LOCATIONS_MAX } from './limits.ts';

/*
 * Runs the resolvers of a plan and writes their results as JSON:
 * https://spec.graphql.org/September2025/#sec-Executing-Fields. Resolvers run in the order of graphql-js, so that answers
 * have the same errors. Only promises are awaited.
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
  /** Writes a list, or gives its cached text if the last run wrote the same list. */
  readonly writeList: typeof writeList;
  readonly errors: GraphQLError[];
  /** The paths that errors made null; undefined stands for `data` itself. */
  readonly nulled: Set<Path | undefined>;
  /** How many more characters the answer may have. */
  left: number;
  /** Whether the answer is complete: then fields in flight resolve no further fields. */
  isOver: boolean;
}

const TOO_LARGE = new Error('The answer is too large.');
/** Thrown by the fast path when a value does not fit the schema: completing field by field then finds the error and its path. */
const IRREGULAR = new Error('A value does not fit the schema.');

/** Creates a function that runs a plan. `things` names the objects of answers in messages. */
export function createPlannedExecution(things: string): (request: PlanRequest) => Promise<Answer> {
  const writeShared = createListWriter();
  return async (request) => {
    const { plan } = request;
    const state = { writeList: writeShared, errors: [], nulled: new Set<Path | undefined>(), isOver: false };
    const run: Run = { ...request, ...state, left: LIMITS.responseBytes.most };
    try {
      const dataJson = await (request.isMutation
        ? completeSerially(run, plan)
        : completeFields(run, plan, undefined, undefined));
      requireSpace(dataJson);
      return { dataJson, errors: run.errors };
    } catch (thrown) {
      if (thrown === TOO_LARGE) return { dataJson: 'null', errors: [answerLimitError(things)] };
      note(run, thrown as GraphQLError, undefined); // `handleError` throws nothing else
      return { dataJson: 'null', errors: run.errors };
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

/** Completes all fields of an object at once. Throws or rejects when a non-null field has an error. */
function completeFields(
  run: Run,
  selection: SelectionPlan,
  object: unknown,
  path: Path | undefined,
): string | Promise<string> {
  const values = completeEach(selection.fields, (field) => completeField(run, field, object, path));
  return whenAll(values, (texts) => joinObject(run, selection, texts));
}

/** GraphQL §6.2.2: the root fields of a mutation run one after the other. */
async function completeSerially(run: Run, selection: SelectionPlan): Promise<string> {
  const texts: string[] = [];
  for (const field of selection.fields) texts.push(await completeField(run, field, undefined, undefined));
  return joinObject(run, selection, texts);
}

/** Joins the texts of an object's fields, whose lengths are already counted. */
function joinObject(run: Run, { fields, tail }: SelectionPlan, texts: readonly string[]): string {
  let text = '';
  for (const [index, { head }] of fields.entries()) text += count(run, head) + texts[index];
  return text + count(run, tail);
}

/** A response position: a field, or an item of its list. */
interface Position {
  readonly field: FieldPlan;
  readonly path: Path;
  readonly isNullable: boolean;
  readonly isItem: boolean;
}

/** Completes a field of the object at the path `prev`. Throws or rejects when a non-null field has an error. */
function completeField(run: Run, field: FieldPlan, object: unknown, prev: Path | undefined): string | Promise<string> {
  const { isNullable, responseName, parentType } = field;
  const path: Path = { prev, key: responseName, typename: parentType.name };
  return completePosition(run, { field, path, isNullable, isItem: false }, () => readField(run, field, object, path));
}

/** Reads the value of a field, or a promise of it. */
function readField(run: Run, field: FieldPlan, object: unknown, path: Path): unknown {
  const { resolver, property } = field;
  if (resolver === undefined) return (object as Readonly<Record<string, unknown>>)[property]; // the value of a field with a selection
  const given = run.argumentsOf(field);
  if (given instanceof Error) throw given;
  return resolver(object, given, run.context, field.info(run.variables, path));
}

function completePosition(run: Run, position: Position, read: () => unknown): string | Promise<string> {
  try {
    const value = read();
    if (isPromise(value)) return completeLater(run, position, value);
    const completed = completeValue(run, position, value);
    return isPromise(completed) ? completed.catch((thrown) => handleError(run, position, thrown)) : completed;
  } catch (thrown) {
    return handleError(run, position, thrown);
  }
}

async function completeLater(run: Run, position: Position, value: Promise<unknown>): Promise<string> {
  try {
    const given = await value;
    if (run.isOver) throw new Error('The answer is complete already.');
    const completed = completeValue(run, position, given);
    return isPromise(completed) ? await completed : completed; // no await for a text: saves a microtask
  } catch (thrown) {
    return handleError(run, position, thrown);
  }
}

/** GraphQL §6.4.4: gives `null` for an error in a nullable position, else throws it to the position around it. */
function handleError(run: Run, { field, path, isNullable }: Position, thrown: unknown): string {
  if (thrown === TOO_LARGE || run.isOver) throw thrown;
  const error = locatedError(thrown, field.nodes.slice(0, LOCATIONS_MAX), pathToArray(path));
  if (!isNullable) throw error;
  note(run, error, path);
  return 'null';
}

/** Notes an error that made a path null. GraphQL §6.4.4 drops it when an error has already made a path around it null. */
function note({ errors, nulled }: Run, error: GraphQLError, path: Path | undefined): void {
  for (let outer = path; outer !== undefined; outer = outer.prev) if (nulled.has(outer)) return;
  nulled.add(path);
  errors.push(error);
}

function pathToArray(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let step: Path | undefined = path; step !== undefined; step = step.prev) keys.push(step.key);
  return keys.reverse();
}

/** GraphQL §6.4.3 */
function completeValue(run: Run, position: Position, value: unknown): string | Promise<string> {
  const { field, isNullable, isItem, path } = position;
  const { selection, isList } = field;
  if (value instanceof Error) throw value;
  if (value === null || value === undefined) {
    if (isNullable) return 'null';
    throw new Error(`Cannot return null for non-nullable field ${field.parentType}.${field.field.name}.`);
  }
  if (selection === undefined) return count(run, field.writeLeaf(value));
  const whole = selection.isExposed && !isItem ? writeWhole(run, field, value) : undefined;
  if (whole !== undefined) return whole;
  return isList && !isItem ? completeList(run, position, value) : completeFields(run, selection, value, path);
}

function completeList(run: Run, { field, path: prev }: Position, value: unknown): string | Promise<string> {
  if (!Array.isArray(value)) {
    throw new Error(`Expected Iterable, but did not find one for field "${field.parentType}.${field.field.name}".`);
  }
  const items = completeEach(value as readonly unknown[], (item, key) => {
    const path: Path = { prev, key, typename: undefined };
    return completePosition(run, { field, path, isNullable: field.isItemNullable, isItem: true }, () => item);
  });
  return whenAll(items, (texts) => `[${texts.join()}]`);
}

/** Completes items in their order without awaiting them. If one throws, the rejections of earlier ones are ignored. */
function completeEach<Item>(
  items: readonly Item[],
  complete: (item: Item, index: number) => string | Promise<string>,
): readonly (string | Promise<string>)[] {
  const completed: (string | Promise<string>)[] = [];
  try {
    for (let index = 0; index < items.length; index++) completed.push(complete(items[index] as Item, index)); // within
    return completed;
  } catch (thrown) {
    for (const value of completed) if (isPromise(value)) value.catch(() => {});
    throw thrown;
  }
}

function whenAll(
  values: readonly (string | Promise<string>)[],
  build: (texts: readonly string[]) => string,
): string | Promise<string> {
  return values.some(isPromise) ? Promise.all(values).then(build) : build(values as readonly string[]);
}

/** Whether a value is a promise of any library. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The fast path: writes a value whose selection needs no resolver, without positions; undefined if it does not fit the schema. */
function writeWhole(run: Run, field: FieldPlan, value: unknown): string | undefined {
  const { left } = run;
  try {
    return field.isList ? run.writeList(run, field, value) : writeExposed(run, field, value);
  } catch (thrown) {
    if (thrown === TOO_LARGE) throw thrown;
    run.left = left;
    return undefined; // IRREGULAR, or an error of `writeLeaf`
  }
}

function writeExposed(run: Run, field: FieldPlan, value: unknown): string {
  const { selection } = field;
  if (selection === undefined) return count(run, field.writeLeaf(value));
  return field.isList ? writeList(run, field, value) : writeObject(run, selection, value);
}

function writeList(run: Run, { selection, isItemNullable }: FieldPlan, list: unknown): string {
  if (!Array.isArray(list) || selection === undefined) throw IRREGULAR;
  let text = '';
  for (const item of list as readonly unknown[]) {
    text += text === '' ? '[' : ',';
    text += item === null && isItemNullable ? 'null' : writeObject(run, selection, item);
  }
  return text === '' ? '[]' : `${text}]`;
}

function writeObject(run: Run, { fields, tail }: SelectionPlan, value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof Error || isPromise(value)) throw IRREGULAR;
  const object = value as Readonly<Record<string, unknown>>; // checked above
  let text = '';
  for (const field of fields) {
    const content = object[field.property] ?? null;
    if (content === null && !field.isNullable) throw IRREGULAR;
    text += count(run, field.head) + (content === null ? 'null' : writeExposed(run, field, content));
  }
  return text + count(run, tail);
}

/** The longest cached text of a list, in characters. */
const CACHED_LENGTH_MAX = 65_536;

/** Creates a list writer that caches one text: requests that share a statement get the same frozen list, one after another. */
function createListWriter(): Run['writeList'] {
  let last: { field: FieldPlan; list: unknown; text: string } | undefined;
  return (run, field, list) => {
    if (last !== undefined && last.list === list && last.field === field) return count(run, last.text);
    const text = writeList(run, field, list);
    if (text.length <= CACHED_LENGTH_MAX && Object.isFrozen(list)) last = { field, list, text };
    return text;
  };
}
