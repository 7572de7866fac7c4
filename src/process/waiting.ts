import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { isLasting } from '../database/faults.ts';
import { DatabaseFault } from '../errors.ts';
import { explainFailure } from '../failure.ts';
import type { Logger } from '../log.ts';

/** The rest after a try that failed, in ms. */
const REST_MS = 1000;
/**
 * What `open` gives. While it fails for a database that does not answer, it is called again. At the first failure the log
 * gets the reason and what `meanwhile` gives. Rejects with errors that do not mend themselves.
 */
export async function whenDatabaseAnswers<Opened>(
  open: () => Promise<Opened>,
  config: Config,
  log: Logger,
  meanwhile: () => Promise<string>,
): Promise<Opened> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof DatabaseFault) || isLasting(error)) throw error;
      if (!isTold) log.warn(`${explainFailure(error, config).line}. Waiting for it; ${await meanwhile()}`);
    }
    await delay(REST_MS);
  }
}
