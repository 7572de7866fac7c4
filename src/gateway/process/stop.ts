import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { IS_WORKER } from '../cluster-worker.ts';
import { onSignal } from '../command-line.ts';
import { CLOSING_MS, LAST_LINES_MS } from '../deadlines.ts';
import { type Logger, safely } from '../log.ts';

/**
 * Makes SIGTERM, SIGINT and SIGHUP call `close` and end the process with exit code 0, after `graceMs` and CLOSING_MS at the
 * latest. A second signal ends the process at once, but SIGHUP, which a closed terminal may send twice, and what `onSignal` takes
 * for one. A worker ignores SIGINT and SIGHUP, because a terminal sends them to the primary as well, and a second SIGTERM. It
 * stops when the primary is gone.
 *
 * An uncaught error ends the process in the same way with exit code 1, because the state of the process is unknown
 * after it (docs/decisions/0034-last-resort.md). A supervisor starts another process: systemd, Docker, or the primary
 * of a worker.
 */
export function stopGracefully(close: () => Promise<void>, graceMs: number, log: Logger): void {
  let stopping = false;
  const stop = async (exitCode: 0 | 1) => {
    stopping = true;
    setTimeout(() => process.exit(exitCode), graceMs + CLOSING_MS).unref();
    await close().catch((error) => log.error({ err: error }, 'stopping was not clean'));
    await Promise.race([new Promise<void>((done) => log.flush(() => done())), delay(LAST_LINES_MS)]);
    process.exit(exitCode);
  };
  const stopOn = (signal: string) => {
    // A worker's second one is the primary's, after one that went to all of them; the primary ends what does not end.
    if (stopping) return IS_WORKER ? undefined : process.exit(1);
    log.info({ signal }, 'stopping');
    void stop(0); // ends with the process
  };
  onSignal('SIGTERM', () => stopOn('SIGTERM'));
  onSignal('SIGINT', () => (IS_WORKER ? undefined : stopOn('SIGINT')));
  process.on('SIGHUP', (signal) => (IS_WORKER || stopping ? undefined : stopOn(signal)));
  // This listener must run before Node's own one, which ends the worker at once:
  // https://github.com/nodejs/node/blob/v24.x/lib/internal/cluster/child.js
  process.prependListener('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    if (!stopping) stopOn('the primary is gone'); // at a stop the primary ends the connection
  });
  // Emitted when a message, such as a question for the count of a rate limit, cannot be sent. Its sender has a time
  // limit.
  process.on('error', (error) => log.warn({ err: error }, 'a message did not reach the primary'));
  // Emitted for an unhandled rejection too: https://nodejs.org/api/process.html#event-unhandledrejection
  process.on('uncaughtException', (error, origin) => {
    safely(log, () => log.fatal({ err: error, origin }, 'a fault that nothing caught; stopping'))();
    if (!stopping) void stop(1);
  });
}
