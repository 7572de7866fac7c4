import cluster from 'node:cluster';
import { type Config, loadDotEnv, readConfig } from '../config.ts';
import { explainFailure } from '../failure.ts';
import { createGateway } from '../gateway.ts';
import { createLog, type Logger } from '../log.ts';
import { welcome } from './first-start.ts';
import { serve } from './serve.ts';
import { superviseWorkers } from './workers.ts';

/** Starts what the environment describes; a start that fails says why in one line and ends the process. */
export async function start(): Promise<void> {
  let config: Config | undefined;
  try {
    loadDotEnv();
    config = readConfig();
    await startProcesses(config, createLog(config.logLevel));
  } catch (error) {
    const { line, exitCode } = explainFailure(error, config);
    console.error(line);
    process.exit(exitCode);
  }
}

async function startProcesses(config: Config, log: Logger): Promise<void> {
  if (cluster.isWorker) {
    await serve(config, log);
  } else if (config.workers === 1) {
    const { gateway, url } = await serve(config, log);
    await welcome(gateway, config, url);
  } else {
    const gateway = await createGateway(config, log); // migrates, before any worker asks for it
    const url = await superviseWorkers(config, log);
    await welcome(gateway, config, url);
    await gateway.close();
  }
}
