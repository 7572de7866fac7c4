import cluster from 'node:cluster';
import { readCommandLine } from '../command-line.ts';
import { type Config, readConfig } from '../config.ts';
import { describeUnknown, loadDotEnv } from '../dot-env.ts';
import { explainFailure } from '../failure.ts';
import { createGateway } from '../gateway.ts';
import { createLog, type Logger } from '../log.ts';
import { readableOutput } from '../readable-log.ts';
import type { Service } from '../service.ts';
import { startHelp, welcome } from './first-start.ts';
import { serve } from './serve.ts';
import { superviseWorkers } from './workers.ts';

/** Starts a service as the environment describes it; a start that fails says why in one line and ends the process. */
export async function start(service: Service): Promise<void> {
  let config: Config | undefined;
  try {
    if (readCommandLine({}).help) return console.log(startHelp(service));
    const unknownNames = loadDotEnv();
    config = readConfig();
    const log = createLog(config.logLevel, await readableOutput());
    for (const unknown of unknownNames) if (cluster.isPrimary && unknown.meant) log.warn(describeUnknown(unknown));
    await startProcesses(service, config, log);
  } catch (error) {
    const { line, exitCode } = explainFailure(error, config);
    console.error(line);
    process.exit(exitCode);
  }
}

async function startProcesses(service: Service, config: Config, log: Logger): Promise<void> {
  // It serves by then: a database that has gone since, or a signal, ends no process by way of its greeting.
  const logFailure = (error: unknown) =>
    log.error({ err: error }, 'the greeting could not be given, nor a first key: npm run keys -- create --name NAME');
  if (cluster.isWorker) {
    await serve(service, config, log);
  } else if (config.workers === 1) {
    const { gateway, url } = await serve(service, config, log);
    await welcome(gateway, config, url).catch(logFailure);
  } else {
    const gateway = await createGateway({ service, config, log }); // migrates, before any worker asks for it
    const url = await superviseWorkers(config, log);
    await welcome(gateway, config, url).finally(gateway.close).catch(logFailure);
  }
}
