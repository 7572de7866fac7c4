import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects the garbage of this process; `COLLECTING` is for another one. */
export const collectGarbage: () => void = runInNewContext('gc');
