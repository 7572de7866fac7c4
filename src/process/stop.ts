import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { CLOSING_MS, LAST_LINES_MS } from '../deadlines.ts';
import { type Logger, safely } from '../log.ts';

/**
 * SIGTERM and SIGINT end the process in good order, exit code 0, at most CLOSING_MS after `graceMs`; a second one ends it at
 * once. A worker ignores SIGINT, which a terminal sends to its primary, too; a worker also stops when the primary is gone.
 *
 * A fault that nothing caught ends the process in the same order, exit code 1, because what it has left behind is not known
 * (docs/decisions/0031-last-resort.md). A supervisor starts another: systemd, Docker, or the primary of a worker.
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
  // Before Node's own listener, which would end the worker at once:
  // https://github.com/nodejs/node/blob/v24.x/lib/internal/cluster/child.js
  process.prependListener('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    stopOn('the primary is gone');
  });
  // A message, such as the count of a rate limit, did not reach a primary that is gone; its sender has a time limit.
  process.on('error', (error) => log.warn({ err: error }, 'a message did not reach the primary'));
  // An unhandled rejection comes here, too: https://nodejs.org/api/process.html#event-unhandledrejection
  process.on('uncaughtException', (error, origin) => {
    safely(log, () => log.fatal({ err: error, origin }, 'a fault that nothing caught; stopping'))();
    if (!stopping) void stop(1);
  });
}
