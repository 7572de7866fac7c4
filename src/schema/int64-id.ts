import { z } from 'zod';
import { parseInt64 } from '../int64.ts';

/**
 * The rule for every `ID` that comes in: it must be a 64-bit integer. GraphQL's own ID gives the text of a
 * string, and of an integer with all its digits; what the rule lets through is an Int64.
 */
export const int64Id = z.string().transform((text, context) => {
  const id = parseInt64(text);
  if (id !== undefined) return id;
  context.addIssue('must be a decimal integer of 64 bits, without leading zeros');
  return z.NEVER;
});
