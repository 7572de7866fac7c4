import * as z from 'zod/mini';
import type { Builder } from './builder.ts';
import { int64Id } from './int64-id.ts';

/** How many things one list may have. */
export const LIST_LIMIT = { least: 1, most: 100, fallback: 20 } as const;

const { least, most, fallback } = LIST_LIMIT;
const limitRule = `must be an integer from ${least} to ${most}`;
const limit = z.int().check(z.gte(least, limitRule), z.lte(most, limitRule));

/**
 * The arguments of a list, which is ordered by id: at most `limit` of those after an id. `things` is what is listed, in the
 * words of a description.
 */
export const pageArguments = (builder: Builder, things: string) =>
  builder.args((t) => ({
    // By the method: what stands in the option `validate` of an argument is checked twice.
    limit: t
      .int({
        required: true,
        defaultValue: fallback,
        description: `How many ${things} at most: ${least} to ${most}.`,
      })
      .validate(limit),
    after: t
      .id({
        description: `Only ${things} with a greater id: the last id of a page asks for the next one. Pages are no change feed: one with a smaller id may still appear.`,
      })
      .validate(int64Id),
  }));
