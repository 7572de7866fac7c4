import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { makeOnce } from '../caches.ts';
import { IS_FOREIGN_WORKER, IS_WORKER } from '../cluster-worker.ts';
import { CREATE_KEY, explainFailure, runProgram } from '../command-line.ts';
import type { Config } from '../config.ts';
import { isPermanent } from '../database/faults.ts';
import { WORKERS_FIRST_MS } from '../deadlines.ts';
import { describeUnknown } from '../dot-env.ts';
import { DatabaseFault } from '../errors.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import { createLog, type Logger, readableOutput } from '../log.ts';
import { maskCredentials } from '../masking.ts';
import type { Service } from '../service.ts';
import { startHelp, welcome } from './first-start.ts';
import { addressOf, listen } from './server.ts';
import { stopGracefully } from './stop.ts';
import { shareMetrics } from './worker-metrics.ts';
import { LISTENS_NEXT, superviseWorkers } from './workers.ts';

/** After this time, in ms, a start counts as waiting: for a migration, the database or the first worker. */
const START_MS = 5000;
const RETRY_INTERVAL_MS = 1000;
/** The first callers come before what only errors and writes need, in ms: loading that takes a third of a second. */
const PRELOAD_DELAY_MS = 2000;

/** Said when a primary that is not ours has started this process. */
const ALONE =
  "this is a worker of another program (PM2's cluster mode?): WORKERS does not count, and limits and metrics are of this process alone; for more processes start one, in fork mode, with WORKERS";

/**
 * Starts a service with the settings of the environment. A start that fails prints the reason in one line and ends the
 * process; one whose database does not answer waits for it.
 */
export async function start(service: Service): Promise<void> {
  await runProgram({
    help: startHelp(service),
    options: {},
    async run({ config, unknownNames }) {
      const log = createLog(config.logLevel, await readableOutput(), config.workers > 1);
      if (!IS_WORKER) log.info(describeDatabase(config));
      if (!IS_WORKER) for (const unknown of unknownNames) if (unknown.meant) log.warn(describeUnknown(unknown));
      if (IS_FOREIGN_WORKER) log.warn(ALONE);
      const own = IS_FOREIGN_WORKER ? { ...config, workers: 1 } : config;
      await (IS_WORKER ? serveAsWorker : serveAsPrimary)(service, own, log);
      flushCompileCache(); // with what was loaded last
    },
  });
}

/**
 * Serves in this process, or in workers, until a signal ends it. It listens only when it can serve, because a proxy would pass the
 * 503 of a start on to clients. Only a start that waits listens earlier, for the probes.
 */
async function serveAsPrimary(service: Service, config: Config, log: Logger): Promise<void> {
  let listening: Awaited<ReturnType<typeof listen>> | undefined;
  const listenNow = makeOnce(async () => {
    listening = await listen(undefined, config, log);
    return listening;
  });
  const isAlone = config.workers === 1;
  // When the port cannot be used, the start ends at the next try to listen.
  const timer = setTimeout(() => void listenNow().catch(() => {}), START_MS);
  // Without a grace, because nothing is being served. The port is free at once for the first worker.
  const leave = () => {
    clearTimeout(timer);
    return listening?.close(0) ?? Promise.resolve();
  };
  let stop = leave;
  stopGracefully(() => stop(), config.shutdownGraceMs + (isAlone ? 0 : WORKERS_FIRST_MS), log);
  const meanwhile = async () => `${(await listenNow()).probesUrl}/livez is 200, everything else 503`;
  const open = () => createGateway({ service, config, log });
  const gateway = await whenDatabaseAnswers(open, config, log, meanwhile);
  // A greeting that fails, as without the database, does not end the process: the gateway serves already.
  const logFailure = (error: unknown) =>
    log.error({ err: error }, `the greeting could not be given, nor a first key: ${CREATE_KEY}`);
  if (isAlone) {
    disablePretenuring();
    const server = await listenNow();
    clearTimeout(timer);
    server.serve(gateway); // before the first connection of a server that has just begun to listen
    stop = server.close;
    log.info(`listening on ${server.url}`);
    await welcome(gateway, config, log, server.url).catch(logFailure);
    await preload(gateway, log);
  } else {
    const { port, url } = config.port === 0 ? await listenNow() : (listening ?? addressOf(config));
    const workers = superviseWorkers({ ...config, port }, log, leave);
    stop = workers.stop;
    await workers.listening;
    await welcome(gateway, config, log, url).catch(logFailure);
    await gateway.close().catch((error) => log.error({ err: error }, 'the database could not be closed'));
  }
}

/** Serves in a worker. It listens when it can serve; until then the primary or the other workers answer. */
async function serveAsWorker(service: Service, config: Config, log: Logger): Promise<void> {
  const open = () => createGateway({ service, config, log, collectMetrics: shareMetrics });
  const gateway = await whenDatabaseAnswers(open, config, log, async () => 'a worker that begins does not listen yet');
  disablePretenuring();
  process.send?.(LISTENS_NEXT);
  const server = await listen(gateway, config, log);
  stopGracefully(server.close, config.shutdownGraceMs, log);
  log.info(`listening on ${server.url}`);
  await preload(gateway, log);
}

/** Says which database is served, because a lost DATABASE_URL would go unnoticed. */
function describeDatabase({ databaseUrl, hasDatabaseUrl }: Config): string {
  const [, path] = /^sqlite:(?!:memory:$)(.*)/s.exec(databaseUrl) ?? [];
  const address = path === undefined ? maskCredentials(databaseUrl) : `sqlite:${resolve(path)}`;
  return `the database is ${address}${hasDatabaseUrl ? '' : ', because DATABASE_URL is not set'}`;
}

/** Loads what is not loaded yet, soon after the process serves. What cannot be loaded is tried again when a request needs it. */
async function preload(gateway: Gateway, log: Logger): Promise<void> {
  flushCompileCache(); // now, because a process that is killed would leave none for the next start
  await delay(PRELOAD_DELAY_MS);
  if (gateway.isDraining()) return; // a stop loads nothing more
  await gateway.preload().then(
    () => log.debug('all is loaded: the files of this version are not needed any more'),
    (error) => log.warn({ err: error }, 'not all could be loaded'),
  );
}

/**
 * Gives the result of `open`. Retries it while the database does not answer; the first failure is logged with its reason and the
 * text of `meanwhile`. Rejects with permanent errors of the database and with all other errors.
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
      if (!(error instanceof DatabaseFault) || isPermanent(error)) throw error;
      if (!isTold) log.warn(`${explainFailure(error, config).line}. Waiting for it; ${await meanwhile()}`);
    }
    await delay(RETRY_INTERVAL_MS);
  }
}

/**
 * Without this flag V8 may allocate the objects of a request in the old space: docs/decisions/0035-born-young.md. It is not
 * set at the start of the process, because Node's own code cache is valid only for the default flags.
 */
function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
