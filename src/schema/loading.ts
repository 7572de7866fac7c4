import { completeField, isPromise, type Output, type Run } from './completion.ts';
import type { Context } from './context.ts';
import { type FieldPlan, NO_VARIABLES, type SelectionPlan } from './plan.ts';
import { type Arguments, createArgumentsOf } from './planned-arguments.ts';

/** The property that has the value of a field, in an object that was loaded; rows that need no resolver stay as they are. */
export function loadedKey({ isExposed }: SelectionPlan, { property, responseName }: FieldPlan): string {
  return isExposed ? property : `_${responseName}`; // a response name may be `__proto__`, which is no property like others
}

/**
 * Gives what runs a root field, below which no arguments have variables, with arguments that are coerced already. Its value, or a
 * promise of it, has all within it that the selection names. Throws what a resolver throws.
 */
export function createLoader(root: FieldPlan): (args: Arguments, context: Context) => unknown {
  const { resolver, selection } = root;
  // Most need no more than the resolver of the root field, and gives rows that stay as they are.
  if (resolver && selection?.isExposed !== false) {
    const path = { prev: undefined, key: root.responseName, typename: root.parentType.name };
    const info = root.info(NO_VARIABLES, path);
    return (args, context) => resolver(undefined, args, context, info);
  }
  const argumentsWithin = createArgumentsOf(NO_VARIABLES);
  return (args, context) => {
    const run: Run<unknown> = {
      context,
      variables: NO_VARIABLES,
      argumentsOf: (field) => (field === root ? args : argumentsWithin(field)),
      output: objectOutput(context),
      isOver: false,
      fail(thrown) {
        run.isOver = true;
        throw thrown;
      },
    };
    return completeField(run, root, undefined, undefined);
  };
}

/** Completed values as they are, and objects by their keys. */
function objectOutput({ reply }: Context): Output<unknown> {
  return {
    nothing: null,
    leaf: (_field, value) => value,
    exposed: ({ isList }, value) => (isList && !isRows(value) ? undefined : value),
    object(selection, values) {
      const loaded: Record<string, unknown> = {};
      for (const [index, field] of selection.fields.entries()) loaded[loadedKey(selection, field)] = values[index];
      return loaded;
    },
    list(items, given) {
      if (reply.unfinished.includes(given)) reply.unfinished.push(items); // the same list, loaded
      return items;
    },
  };
}

/** Whether a list holds rows, and neither promises of some nor errors. */
function isRows(value: unknown): boolean {
  return Array.isArray(value) && !value.some((item) => item instanceof Error || isPromise(item));
}
