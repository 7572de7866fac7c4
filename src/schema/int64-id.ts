import * as z from 'zod/mini';
import { type Int64, parseInt64 } from '../int64.ts';

/**
 * The rule for every `ID` that comes in: it must be a 64-bit integer. GraphQL's own ID gives the text of a
 * string, and of an integer with all its digits; what the rule lets through is an Int64.
 */
export const int64Id = z.custom<Int64, string>(
  (text) => typeof text === 'string' && parseInt64(text) !== undefined,
  'must be a decimal integer of 64 bits, without leading zeros',
);
