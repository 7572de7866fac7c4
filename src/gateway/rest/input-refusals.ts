import { ApiError } from '../errors.ts';
import { isJsonObject } from '../http/json-body.ts';
import type { AnyKind } from '../kinds.ts';
import { quoteInput } from '../masking.ts';

/** Throws ApiError `bad_request` for a JSON value that a leaf does not allow. `path` is the path of the property in the body. */
export function refuseJson(leaf: AnyKind, path: string, value: unknown): never {
  const suggested = leaf.suggest(value);
  const rule = `${path} must be ${leaf.allowed}`;
  if (suggested === undefined) throw new ApiError('bad_request', `${rule}, not ${nameJson(value)}.`);
  const instead = leaf.write(leaf.fromText(suggested));
  const type = instead.startsWith('"') ? '' : ', not a string';
  throw new ApiError('bad_request', `${rule}${type}: ${instead} instead of ${nameJson(value)}.`);
}

function nameJson(value: unknown): string {
  if (typeof value === 'string') return `"${quoteInput(value)}"`;
  if (Array.isArray(value)) return 'an array';
  if (isJsonObject(value)) return 'an object';
  return quoteInput(String(value));
}

/** Makes the ApiError `bad_request` for the text of a parameter that its leaf does not allow; it may suggest an allowed text. */
export function textRefusal(leaf: AnyKind, name: string, text: string): ApiError {
  const suggested = leaf.suggest(text);
  if (suggested === undefined) return notAllowed(name, text, leaf.allowed);
  return new ApiError('bad_request', `${name}=${quoteInput(text)}: did you mean ${suggested}?`);
}

/** Makes the ApiError `bad_request` for the text of a parameter. `allowed` describes the allowed values. */
export function notAllowed(name: string, text: string, allowed: string): ApiError {
  return new ApiError('bad_request', `${name}=${quoteInput(text)} is not allowed: ${allowed}.`);
}
