import cluster from 'node:cluster';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import type { Config } from '../config.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import type { Logger } from '../log.ts';
import type { Service } from '../service.ts';
import { listen } from './server.ts';
import { stopInGoodOrder } from './stop.ts';
import { shareMetrics } from './worker-metrics.ts';

/** Serves a service in this process until a signal ends it. */
export async function serve(service: Service, config: Config, log: Logger): Promise<{ gateway: Gateway; url: string }> {
  const shared = cluster.isWorker ? shareMetrics(log) : undefined;
  const gateway = await createGateway({ service, config, log, collectMetrics: shared?.collect });
  shared?.tell(gateway.metrics.registry);
  disablePretenuring();
  const server = await listen(gateway, config, log);
  stopInGoodOrder(server.close, config.shutdownGraceMs, log);
  // A terminal that is closed sends it, too, and then it is to end the process.
  if (cluster.isPrimary && !isatty(0)) {
    process.on('SIGHUP', () => log.warn('SIGHUP replaces workers, and this is the only process; nothing was done'));
  }
  log.info(`listening on ${server.url}`);
  return { gateway, url: server.url };
}

/**
 * V8 may decide that what a line of code makes lives long, and from then on makes it in the old space, where it keeps all
 * that it refers to: one such line, in on-finished, is met by every request to Koa (docs/decisions/0023-born-young.md). Only now, because the
 * code that Node has compiled beforehand is for the flags of a start.
 */
function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
