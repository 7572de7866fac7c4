import { type GraphQLError, locatedError, type VariableValues } from 'graphql';
import type { Context } from '../schema/context.ts';
import type { ArgumentsOf, FieldPlan, OperationPlan, Path, SelectionPlan } from '../schema/plan.ts';
import { answerLimitError, LIMITS } from './limits.ts';

/*
 * Runs the resolvers of a plan and writes what they give as JSON, as graphql-js would:
 * https://spec.graphql.org/September2025/#sec-Executing-Fields. It runs them in the same order, so that the same errors
 * are found, and does not wait for what is there already.
 */

/** What came of an operation. Without data it was refused before anything ran. */
export interface Answer {
  /** The data as JSON, `null` included. */
  readonly dataJson?: string;
  readonly errors: readonly GraphQLError[];
}

/** What a plan is run with. */
export interface PlanRequest {
  readonly plan: OperationPlan;
  readonly isMutation: boolean;
  readonly variables: VariableValues;
  readonly argumentsOf: ArgumentsOf;
  readonly context: Context;
}

/** One run of a plan. */
interface Run extends PlanRequest {
  /** Writes a list, or gives the text that another request's run made of the same one. */
  readonly writeList: typeof writeList;
  readonly errors: GraphQLError[];
  /** The places that errors made null; undefined is the place of all data. */
  readonly nulled: Set<Path | undefined>;
  /** How many characters the answer may still have. */
  left: number;
  /** Whether the answer is there already: what is still under way then resolves no more fields. */
  isOver: boolean;
}

const TOO_LARGE = new Error('The answer is too large.');
/** Something within rows is not as the schema has it: completing them field by field finds what it is, and where. */
const IRREGULAR = new Error('Something is not as the schema has it.');

/** Gives what runs an operation by its plan. `things` is what answers are made of, in messages. */
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
      note(run, thrown as GraphQLError, undefined); // `lose` throws nothing else
      return { dataJson: 'null', errors: run.errors };
    } finally {
      run.isOver = true;
    }
  };
}

/** In UTF-8 a text can have three times as many bytes as characters. */
function requireSpace(text: string): void {
  const { most } = LIMITS.responseBytes;
  if (text.length * 3 > most && Buffer.byteLength(text) > most) throw TOO_LARGE;
}

/** Counts a piece of the answer, and gives it. */
function count(run: Run, text: string): string {
  run.left -= text.length;
  if (run.left < 0) throw TOO_LARGE;
  return text;
}

/** Completes all fields of an object at once. Throws, or rejects, when it cannot be: a field of it may not be null. */
function completeFields(
  run: Run,
  selection: SelectionPlan,
  object: unknown,
  path: Path | undefined,
): string | Promise<string> {
  const values = completeEach(selection.fields, (field) => completeField(run, field, object, path));
  return whenAll(values, (texts) => joinObject(run, selection, texts));
}

/** GraphQL §6.2.2: the fields of a mutation run one after the other. */
async function completeSerially(run: Run, selection: SelectionPlan): Promise<string> {
  const texts: string[] = [];
  for (const field of selection.fields) texts.push(await completeField(run, field, undefined, undefined));
  return joinObject(run, selection, texts);
}

/** An object of the texts of its fields, which are counted already. */
function joinObject(run: Run, { fields, tail }: SelectionPlan, texts: readonly string[]): string {
  let text = '';
  for (const [index, { head }] of fields.entries()) text += count(run, head) + texts[index];
  return text + count(run, tail);
}

/** A place in the answer that a field fills: its own, or that of an item of its list. */
interface Place {
  readonly field: FieldPlan;
  readonly path: Path;
  readonly isNullable: boolean;
  readonly isItem: boolean;
}

/** Completes a field of an object; it stands below `prev`. Throws, or rejects, when it may not be null and is. */
function completeField(run: Run, field: FieldPlan, object: unknown, prev: Path | undefined): string | Promise<string> {
  const { isNullable, responseName, parentType } = field;
  const path: Path = { prev, key: responseName, typename: parentType.name };
  return completePlace(run, { field, path, isNullable, isItem: false }, () => readField(run, field, object, path));
}

/** What a field is, or a promise of it. */
function readField(run: Run, field: FieldPlan, object: unknown, path: Path): unknown {
  const { resolver, property } = field;
  if (resolver === undefined) return (object as Readonly<Record<string, unknown>>)[property]; // a field of objects gave it
  const given = run.argumentsOf(field);
  if (given instanceof Error) throw given;
  return resolver(object, given, run.context, field.info(run.variables, path));
}

function completePlace(run: Run, place: Place, read: () => unknown): string | Promise<string> {
  try {
    const value = read();
    if (isPromise(value)) return completeLater(run, place, value);
    const completed = completeValue(run, place, value);
    return isPromise(completed) ? completed.catch((thrown) => lose(run, place, thrown)) : completed;
  } catch (thrown) {
    return lose(run, place, thrown);
  }
}

async function completeLater(run: Run, place: Place, value: Promise<unknown>): Promise<string> {
  try {
    const given = await value;
    if (run.isOver) throw new Error('The answer is there already.');
    const completed = completeValue(run, place, given);
    return isPromise(completed) ? await completed : completed; // a turn less
  } catch (thrown) {
    return lose(run, place, thrown);
  }
}

/** GraphQL §6.4.4: where something was thrown is null, if it may be; else what stands around it is lost, too. */
function lose(run: Run, { field, path, isNullable }: Place, thrown: unknown): string {
  if (thrown === TOO_LARGE || run.isOver) throw thrown;
  const error = locatedError(thrown, field.nodes.slice(0, NODES_MAX), pathToArray(path));
  if (!isNullable) throw error;
  note(run, error, path);
  return 'null';
}

/** How many places of the document an error names. */
const NODES_MAX = 5;

/** Notes an error that made a place null, unless something around it is null already: GraphQL §6.4.4 drops it then. */
function note({ errors, nulled }: Run, error: GraphQLError, path: Path | undefined): void {
  for (let place = path; place !== undefined; place = place.prev) if (nulled.has(place)) return;
  nulled.add(path);
  errors.push(error);
}

function pathToArray(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = path; place !== undefined; place = place.prev) keys.push(place.key);
  return keys.reverse();
}

/** GraphQL §6.4.3 */
function completeValue(run: Run, place: Place, value: unknown): string | Promise<string> {
  const { field, isNullable, isItem, path } = place;
  const { selection, isList } = field;
  if (value instanceof Error) throw value;
  if (value === null || value === undefined) {
    if (isNullable) return 'null';
    throw new Error(`Cannot return null for non-nullable field ${field.parentType}.${field.field.name}.`);
  }
  if (selection === undefined) return count(run, field.writeLeaf(value));
  const whole = selection.isExposed && !isItem ? writeWhole(run, field, value) : undefined;
  if (whole !== undefined) return whole;
  return isList && !isItem ? completeList(run, place, value) : completeFields(run, selection, value, path);
}

function completeList(run: Run, { field, path: prev }: Place, value: unknown): string | Promise<string> {
  if (!Array.isArray(value)) {
    throw new Error(`Expected Iterable, but did not find one for field "${field.parentType}.${field.field.name}".`);
  }
  const items = completeEach(value as readonly unknown[], (item, key) => {
    const path: Path = { prev, key, typename: undefined };
    return completePlace(run, { field, path, isNullable: field.isItemNullable, isItem: true }, () => item);
  });
  return whenAll(items, (texts) => `[${texts.join()}]`);
}

/** Completes items in their order, without waiting. When one of them throws, rejections of those before it are ignored. */
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
  // Without a promise among them they are there already.
  return values.some(isPromise) ? Promise.all(values).then(build) : build(values as readonly string[]);
}

/** Whether a value is a promise, of any library. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The value of a field whose selection needs no resolver, written without a place for each leaf; undefined when irregular. */
function writeWhole(run: Run, field: FieldPlan, value: unknown): string | undefined {
  const { left } = run;
  try {
    return field.isList ? run.writeList(run, field, value) : writeExposed(run, field, value);
  } catch (thrown) {
    if (thrown === TOO_LARGE) throw thrown;
    run.left = left;
    return undefined; // IRREGULAR, or what a leaf's writer throws
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
  const object = value as Readonly<Record<string, unknown>>; // what gives objects gave it
  let text = '';
  for (const field of fields) {
    const content = object[field.property] ?? null;
    if (content === null && !field.isNullable) throw IRREGULAR;
    text += count(run, field.head) + (content === null ? 'null' : writeExposed(run, field, content));
  }
  return text + count(run, tail);
}

/** How long the text of a list may be that is cached, in characters. */
const CACHED_LENGTH_MAX = 65_536;

/** Writes lists. Requests that share a statement get the same frozen page, one right after the other: it is written once. */
function createListWriter(): Run['writeList'] {
  let last: { field: FieldPlan; list: unknown; text: string } | undefined;
  return (run, field, list) => {
    if (last !== undefined && last.list === list && last.field === field) return count(run, last.text);
    const text = writeList(run, field, list);
    if (text.length <= CACHED_LENGTH_MAX && Object.isFrozen(list)) last = { field, list, text };
    return text;
  };
}
