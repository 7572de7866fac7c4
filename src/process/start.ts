import cluster from 'node:cluster';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import { runProgram } from '../command-line.ts';
import type { Config } from '../config.ts';
import { describeUnknown } from '../dot-env.ts';
import { createGateway } from '../gateway.ts';
import { createLog, type Logger, readableOutput } from '../log.ts';
import type { Service } from '../service.ts';
import { startHelp, welcome } from './first-start.ts';
import { listen } from './server.ts';
import { stopInGoodOrder } from './stop.ts';
import { shareMetrics } from './worker-metrics.ts';
import { superviseWorkers } from './workers.ts';

/**
 * Starts a service with the settings of the environment. A start that fails prints the reason in one line and ends the
 * process.
 */
export async function start(service: Service): Promise<void> {
  await runProgram({
    help: startHelp(service),
    options: {},
    async run({ config, unknownNames }) {
      const log = createLog(config.logLevel, await readableOutput());
      if (cluster.isWorker) return void (await serve(service, config, log));
      for (const unknown of unknownNames) if (unknown.meant) log.warn(describeUnknown(unknown));
      // A greeting that fails, as without the database, does not end the process: the gateway serves already.
      const logFailure = (error: unknown) =>
        log.error(
          { err: error },
          'the greeting could not be given, nor a first key: npm run keys -- create --name NAME',
        );
      if (config.workers === 1) {
        const { gateway, url } = await serve(service, config, log);
        await welcome(gateway, config, url).catch(logFailure);
      } else {
        const gateway = await createGateway({ service, config, log }); // migrates before the workers start
        const url = await superviseWorkers(config, log);
        await welcome(gateway, config, url).finally(gateway.close).catch(logFailure);
      }
    },
  });
}

/** Serves a service in this process until a signal ends it. */
async function serve(service: Service, config: Config, log: Logger) {
  const gateway = await createGateway({
    service,
    config,
    log,
    collectMetrics: cluster.isWorker ? shareMetrics : undefined,
  });
  // Without this flag V8 may allocate the objects of a request in the old space: docs/decisions/0035-born-young.md. It
  // is not set at the start of the process, because Node's own code cache is valid only for the default flags.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const server = await listen(gateway, config, log);
  stopInGoodOrder(server.close, config.shutdownGraceMs, log);
  // A terminal that is closed sends SIGHUP too; there it must end the process, as it does by default.
  if (cluster.isPrimary && !isatty(0)) {
    process.on('SIGHUP', () => log.warn('SIGHUP replaces workers, and this is the only process; nothing was done'));
  }
  log.info(`listening on ${server.url}`);
  return { gateway, url: server.url };
}
