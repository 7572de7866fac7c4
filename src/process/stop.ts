import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { CLOSING_MS, LAST_LINES_MS } from '../deadlines.ts';
import { safely, type Logger } from '../log.ts';

/**
 * SIGTERM and SIGINT end the process in good order, exit code 0, at most CLOSING_MS after `graceMs`; a second one ends it at
 * once.
 * A worker leaves SIGINT to its primary, whom a terminal tells too, and drains when the primary is gone; it ends at once
 * when that is so while it drains.
 *
 * The last resort: a fault that nothing caught ends it in the same order, exit code 1, because what it has left behind is
 * not known. A supervisor starts another: systemd, Docker, or the primary of a worker.
 */
export function stopInGoodOrder(close: () => Promise<void>, graceMs: number, log: Logger): void {
  let stopping = false;
  const stop = async (exitCode: 0 | 1) => {
    stopping = true;
    setTimeout(() => process.exit(exitCode), graceMs + CLOSING_MS).unref();
    await close().catch((error) => log.error({ err: error }, 'stopping was not clean'));
    await Promise.race([new Promise<void>((done) => log.flush(() => done())), delay(LAST_LINES_MS)]);
    process.exit(exitCode);
  };
  const stopOn = (signal: string) => {
    if (stopping) process.exit(1);
    log.info({ signal }, 'stopping');
    void stop(0); // ends with the process
  };
  process.on('SIGTERM', stopOn);
  process.on('SIGINT', (signal) => (cluster.isPrimary ? stopOn(signal) : undefined));
  // Before Node's own listener, which ends a worker at once that has not been told to disconnect:
  // https://github.com/nodejs/node/blob/v24.x/lib/internal/cluster/child.js
  process.prependListener('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    stopOn('the primary is gone');
  });
  // Of a message to a primary that is gone, such as a question of a rate limit; who asked has a limit of time.
  process.on('error', (error) => log.warn({ err: error }, 'a message did not reach the primary'));
  // A rejection that nobody handles comes here, too: https://nodejs.org/api/process.html#event-unhandledrejection
  process.on('uncaughtException', (error, origin) => {
    safely(log, () => log.fatal({ err: error, origin }, 'a fault that nothing caught; stopping'))();
    if (!stopping) void stop(1);
  });
}
