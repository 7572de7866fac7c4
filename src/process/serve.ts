import cluster from 'node:cluster';
import type { Config } from '../config.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import type { Logger } from '../log.ts';
import { listen } from './server.ts';
import { stopOnSignals } from './stop.ts';
import { metricsOfAllWorkers, shareMetrics } from './worker-metrics.ts';

/** Serves the gateway in this process until a signal ends it. */
export async function serve(config: Config, log: Logger): Promise<{ gateway: Gateway; url: string }> {
  const gateway = await createGateway(config, log, cluster.isWorker ? metricsOfAllWorkers : undefined);
  shareMetrics(gateway.metrics.registry);
  const server = await listen(gateway, config, log);
  stopOnSignals(server.close, config.shutdownGraceMs, log);
  log.info(`listening on ${server.url}`);
  return { gateway, url: server.url };
}
