import { ApiError } from '../errors.ts';

/** Who calls: what the API key of a request means. */
export interface Caller {
  readonly keyId: string;
  /** The id of the first key in a chain of rotations: the same for a key and its replacements. */
  readonly ownerId: string;
  /** False for a read-only key. */
  readonly mayWrite: boolean;
}

/** Throws ApiError `forbidden` for a read-only key. */
export function requireWrite({ mayWrite }: Caller): void {
  if (!mayWrite) throw new ApiError('forbidden', 'This API key may only read.');
}
