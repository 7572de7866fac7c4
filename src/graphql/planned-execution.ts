import { GraphQLError, locatedError } from 'graphql';
import { completeFields, completeSerially, type Run } from '../schema/completion.ts';
import type { OperationPlan } from '../schema/plan.ts';
import type { Path } from '../schema/resolve-info.ts';
import { answerLimitError, LIMITS } from './limits.ts';
import { createTextOutput, type Space } from './text-output.ts';

/** What came of an operation. Without data it was refused before anything ran. */
export interface Answer {
  /** The data as JSON, `null` included. */
  readonly dataJson?: string;
  readonly errors: readonly GraphQLError[];
}

/** What a plan is run with. The root fields of a mutation run one after the other. */
interface PlanRequest extends Pick<Run<string>, 'context' | 'variables' | 'argumentsOf'> {
  readonly plan: OperationPlan;
  readonly isMutation: boolean;
}

/**
 * Gives what runs an operation by its plan, as graphql-js would: the same resolvers, the same data, the same errors. It
 * remembers the lists that requests share. `things` is what answers are made of.
 */
export function createPlannedExecution(things: string): (request: PlanRequest) => Promise<Answer> {
  const createOutput = createTextOutput();
  const tooLarge = answerLimitError(things);
  return async ({ plan, isMutation, ...request }) => {
    const space: Space = { left: LIMITS.responseBytes.most, tooLarge };
    let found: ReturnType<typeof collectErrors> | undefined;
    const run: Run<string> = {
      ...request,
      output: createOutput(space),
      isOver: false,
      fail(thrown, { nodes }, path, isNullable) {
        if (thrown === tooLarge || run.isOver) throw thrown;
        // A few nodes are enough to find the field by.
        const error = locatedError(thrown, nodes.slice(0, NODES_MAX), pathToArray(path));
        if (!isNullable) throw error;
        found ??= collectErrors();
        found.add(error, path);
      },
    };
    try {
      const isOneByOne = isMutation || plan.fields.length === 1;
      const dataJson = await (isOneByOne
        ? completeSerially(run, plan)
        : completeFields(run, plan, undefined, undefined));
      return { dataJson, errors: found?.errors ?? [] };
    } catch (thrown) {
      if (!(thrown instanceof GraphQLError)) throw thrown; // `fail` throws nothing else
      if (thrown === tooLarge) return { dataJson: 'null', errors: [tooLarge] };
      found ??= collectErrors();
      found.add(thrown, undefined);
      return { dataJson: 'null', errors: found.errors };
    } finally {
      run.isOver = true;
    }
  };
}

/** How many places of the document an error names. */
const NODES_MAX = 5;

/** Errors, and where they left a null. `undefined` is the place of all data. Made with the first error: most requests have none. */
function collectErrors() {
  const errors: GraphQLError[] = [];
  const lost = new Set<Path | undefined>();
  const isLost = (path: Path | undefined): boolean => {
    for (let place = path; place !== undefined; place = place.prev) if (lost.has(place)) return true;
    return lost.has(undefined);
  };
  return {
    errors,
    /** Adds an error, unless its place is lost already: GraphQL §6.4.4 has it told to nobody then. */
    add(error: GraphQLError, nulled: Path | undefined): void {
      if (isLost(nulled)) return;
      lost.add(nulled);
      errors.push(error);
    },
  };
}

function pathToArray(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = path; place !== undefined; place = place.prev) keys.push(place.key);
  return keys.reverse();
}
