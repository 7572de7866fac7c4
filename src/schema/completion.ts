import type { VariableValues } from 'graphql';
import type { Context } from './context.ts';
import type { FieldPlan, SelectionPlan } from './plan.ts';
import type { ArgumentsOf } from './planned-arguments.ts';
import type { Path } from './resolve-info.ts';

/*
 * Runs the resolvers of a plan and completes what they give, as graphql-js does it, https://spec.graphql.org/September2025/#sec-Executing-Fields:
 * in the same order, so that the same errors are found, and without waiting for what is there already.
 */

/** What completed values are made into: text, or objects. */
export interface Output<Value> {
  readonly nothing: Value;
  /** A leaf other than null. Throws when the schema does not allow it. */
  leaf(field: FieldPlan, value: unknown): Value;
  /**
   * The value of a field whose selection needs no resolver, as a whole; undefined when something within it is not as the
   * schema has it, or a promise: then it is completed field by field.
   */
  exposed(field: FieldPlan, value: unknown): Value | undefined;
  /** An object, of the values of its fields in their order. */
  object(selection: SelectionPlan, values: readonly Value[]): Value;
  list(items: readonly Value[], given: readonly unknown[]): Value;
}

/** What one run of a plan has. */
export interface Run<Value> {
  readonly context: Context;
  readonly variables: VariableValues;
  readonly argumentsOf: ArgumentsOf;
  readonly output: Output<Value>;
  /** Hears what was thrown at a place, and throws in its turn unless the place becomes null. */
  fail(thrown: unknown, field: FieldPlan, path: Path, isNullable: boolean): void;
  /** Whether the answer is there already: what is still under way then resolves no more fields. */
  isOver: boolean;
}

/** Completes all fields of an object at once. Throws, or rejects, when it cannot be: a field of it may not be null. */
export function completeFields<Value>(
  run: Run<Value>,
  selection: SelectionPlan,
  object: unknown,
  path: Path | undefined,
): Value | Promise<Value> {
  const values = completeEach(selection.fields, (field) => completeField(run, field, object, path));
  return whenAll(values, (whole) => run.output.object(selection, whole));
}

/** GraphQL §6.2.2: the fields of a mutation run one after the other. */
export async function completeSerially<Value>(run: Run<Value>, selection: SelectionPlan): Promise<Value> {
  const values: Value[] = [];
  for (const field of selection.fields) values.push(await completeField(run, field, undefined, undefined));
  return run.output.object(selection, values);
}

/** A place in the answer that a field fills: its own, or that of an item of its list. */
interface Place {
  readonly field: FieldPlan;
  readonly path: Path;
  readonly isNullable: boolean;
  readonly isItem: boolean;
}

/** Completes a field of an object; it stands below `parent`. Throws, or rejects, when it may not be null and is. */
export function completeField<Value>(
  run: Run<Value>,
  field: FieldPlan,
  object: unknown,
  parent: Path | undefined,
): Value | Promise<Value> {
  const { isNullable, responseName, parentType } = field;
  const path: Path = { prev: parent, key: responseName, typename: parentType.name };
  return completePlace(run, { field, path, isNullable, isItem: false }, () => readField(run, field, object, path));
}

/** What a field is, or a promise of it. */
function readField(run: Run<unknown>, field: FieldPlan, object: unknown, path: Path): unknown {
  const { resolver, property } = field;
  if (resolver === undefined) return (object as Readonly<Record<string, unknown>>)[property]; // a field of objects gave it
  const given = run.argumentsOf(field);
  if (given instanceof Error) throw given;
  return resolver(object, given, run.context, field.info(run.variables, path));
}

function completePlace<Value>(run: Run<Value>, place: Place, read: () => unknown): Value | Promise<Value> {
  try {
    const value = read();
    if (isPromise(value)) return completeLater(run, place, value);
    const completed = completeValue(run, place, value);
    return isPromise(completed) ? completed.catch((thrown) => lose(run, place, thrown)) : completed;
  } catch (thrown) {
    return lose(run, place, thrown);
  }
}

async function completeLater<Value>(run: Run<Value>, place: Place, value: Promise<unknown>): Promise<Value> {
  try {
    const given = await value;
    if (run.isOver) throw new Error('Nobody waits for this field any more.');
    const completed = completeValue(run, place, given);
    return isPromise(completed) ? await completed : completed; // a turn less
  } catch (thrown) {
    return lose(run, place, thrown);
  }
}

/** GraphQL §6.4.4: where something was thrown is null, if it may be. */
function lose<Value>(run: Run<Value>, { field, path, isNullable }: Place, thrown: unknown): Value {
  run.fail(thrown, field, path, isNullable);
  return run.output.nothing;
}

/** GraphQL §6.4.3 */
function completeValue<Value>(run: Run<Value>, place: Place, value: unknown): Value | Promise<Value> {
  const { field, isNullable, isItem, path } = place;
  const { selection, isList } = field;
  if (value instanceof Error) throw value;
  if (value === null || value === undefined) {
    if (isNullable) return run.output.nothing;
    throw new Error(`Cannot return null for non-nullable field ${field.parentType}.${field.field.name}.`);
  }
  if (selection === undefined) return run.output.leaf(field, value);
  const whole = selection.isExposed && !isItem ? run.output.exposed(field, value) : undefined;
  if (whole !== undefined) return whole;
  return isList && !isItem ? completeList(run, place, value) : completeFields(run, selection, value, path);
}

function completeList<Value>(run: Run<Value>, { field, path: prev }: Place, value: unknown): Value | Promise<Value> {
  if (!Array.isArray(value)) {
    throw new Error(`Expected Iterable, but did not find one for field "${field.parentType}.${field.field.name}".`);
  }
  const given: readonly unknown[] = value;
  const items = completeEach(given, (item, key) => {
    const path: Path = { prev, key, typename: undefined };
    return completePlace(run, { field, path, isNullable: field.isItemNullable, isItem: true }, () => item);
  });
  return whenAll(items, (whole) => run.output.list(whole, given));
}

/** Completes one after the other, without waiting; when one of them throws, nobody waits for those before it. */
function completeEach<Item, Completed>(items: readonly Item[], complete: (item: Item, index: number) => Completed) {
  const completed: Completed[] = [];
  try {
    for (let index = 0; index < items.length; index++) completed.push(complete(items[index] as Item, index)); // within
    return completed;
  } catch (thrown) {
    for (const value of completed) if (isPromise(value)) value.catch(() => {});
    throw thrown;
  }
}

function whenAll<Value>(
  values: readonly (Value | Promise<Value>)[],
  build: (whole: readonly Value[]) => Value,
): Value | Promise<Value> {
  // Without a promise among them they are there already.
  return values.some(isPromise) ? Promise.all(values).then(build) : build(values as readonly Value[]);
}

/** Whether a value is a promise, of any library. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
