import cluster from 'node:cluster';
import type { Logger } from '../log.ts';

/**
 * SIGTERM and SIGINT end the process in good order, exit code 0, within `graceMs`; a second one ends it at once.
 * A worker leaves SIGINT to its primary, whom a terminal tells too, and stops when the primary is gone.
 */
export function stopOnSignals(close: () => Promise<void>, graceMs: number, log: Logger): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(0), graceMs).unref();
    await close().catch((error) => log.error({ err: error }, 'stopping was not clean'));
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', (signal) => (cluster.isPrimary ? stop(signal) : undefined));
  process.on('disconnect', () => stop('the primary is gone'));
}
