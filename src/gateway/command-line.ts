import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { IS_WORKER } from './cluster-worker.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { loadDotEnv, type UnknownName } from './dot-env.ts';
import { DatabaseFault } from './errors.ts';
import { maskCredentials } from './masking.ts';
import { VERSION } from './product.ts';

/** A program: its words, and what it does. */
export interface Program<Options extends ParseArgsOptionsConfig> {
  readonly help: string;
  readonly options: Options;
  /** The options that its first word takes; without it, and for an unknown word, all. */
  optionsOf?(verb: string | undefined): readonly string[] | undefined;
  /** The largest number of positional words; by default 0. */
  readonly positionals?: number;
  run(input: ProgramInput<Options>): Promise<void>;
}

/** The parsed command line and configuration of a program. */
export interface ProgramInput<Options extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<typeof parseArgs<{ options: Options }>>['values'];
  readonly positionals: readonly string[];
  readonly config: Config;
  /** Names in `.env` that are no settings, and those in the environment that are close to one. */
  readonly unknownNames: readonly UnknownName[];
}

/**
 * Runs a program with the command line and the environment of this process. An error is printed as one line on standard
 * error and ends the process: with exit code 2 for a wrong word or setting, else 1.
 */
export async function runProgram<Options extends ParseArgsOptionsConfig>(program: Program<Options>): Promise<void> {
  let config: Config | undefined;
  try {
    const words = readWords(program);
    if (typeof words === 'string') return console.log(words);
    // A worker has what the start read: an error in a `.env` that was changed since must not end it.
    const unknownNames = IS_WORKER ? [] : loadDotEnv(process.env);
    config = readConfig();
    await program.run({ ...words, config, unknownNames });
  } catch (error) {
    const { line, exitCode } = explainFailure(error, config);
    console.error(line);
    process.exit(exitCode);
  }
}

const COMMON_OPTIONS: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } };
const COMMON_HELP = `
  --help       this page
  --version    the version of the gateway and its commit, alone`;

/** Parses the command line; gives the text that `--help` or `--version` asks for, if it has one. Throws UsageError. */
function readWords<Options extends ParseArgsOptionsConfig>(program: Program<Options>) {
  const { help, options, positionals: most = 0 } = program;
  const { values, positionals } = parse({ ...options, ...COMMON_OPTIONS });
  const own = program.optionsOf?.(positionals[0]) ?? Object.keys(options); // npm has a setting `json` of its own
  // npm takes options for itself when no `--` stands before them, and puts them into the environment:
  // https://docs.npmjs.com/cli/v11/using-npm/config#environment-variables
  const isTaken = (name: string) => process.env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined;
  const swallowed = own.filter((name) => !(name in values) && isTaken(name));
  if (swallowed.length > 0) {
    const again = swallowed.map((name) => (options[name]?.type === 'boolean' ? `--${name}` : `--${name} …`));
    const call = [...positionals.slice(0, most), ...again].join(' ');
    throw new UsageError(`npm took --${swallowed.join(', --')} for itself; put -- first: npm run ${SCRIPT} -- ${call}`);
  }
  const extra = positionals[most];
  if (extra !== undefined) throw new UsageError(`Unknown word "${extra}"; --help shows what is possible.`);
  if (values.help) return `${help}\n${COMMON_HELP}`;
  if (values.version) return VERSION;
  // parseArgs gives values by `options`; TypeScript cannot infer that from the generic.
  return { values: values as ProgramInput<Options>['values'], positionals };
}

function parse(options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\.\s/); // parseArgs throws only Errors
    throw new UsageError(`${sentence}; --help shows what is possible.`);
  }
}

/** The script by which npm has started this process: https://docs.npmjs.com/cli/v11/using-npm/scripts#current-lifecycle-event */
const SCRIPT = process.env.npm_lifecycle_event;

/** The command that makes a key, as it works where this process runs: in an image there may be no npm. */
export const CREATE_KEY = `${SCRIPT === undefined ? 'node cli.js keys' : 'npm run keys --'} create --name NAME`;

/** A wrong command line: the message is printed as one line on standard error, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The same signal that comes again within this time, in ms, has come by two ways. */
export const ONE_SIGNAL_MS = 500;

/**
 * Calls `listener` at each such signal that is sent. Through npm it may come twice: a terminal's Ctrl+C, and who stops a group of processes,
 * send one to all of them, and npm hands its own on: https://github.com/npm/run-script/blob/v10.0.4/lib/signal-manager.js
 */
export function onSignal(signal: 'SIGINT' | 'SIGTERM', listener: () => void): void {
  let endsAt = 0;
  process.on(signal, () => {
    if (performance.now() < endsAt) return;
    endsAt = performance.now() + ONE_SIGNAL_MS;
    listener();
  });
}

/**
 * Error codes of a HOST that is no address of this machine or has no address. A later start may succeed after the last two: the
 * address may be added, or the name server may answer.
 */
const NO_HOST = new Map<unknown, 1 | 2>([
  ['ENOTFOUND', 2],
  ['EINVAL', 2], // a link-local address without its zone
  ['EADDRNOTAVAIL', 1],
  ['EAI_AGAIN', 1],
]);
const PORT_MAX = 65_535;

const ADVICE: Partial<Record<DatabaseFault['meaning'], string>> = {
  accessDenied: 'correct DATABASE_URL, or the account and its rights at the server',
  unknownDatabase: 'create it, or correct its name in DATABASE_URL',
  untrusted: 'correct the options of DATABASE_URL (docs/databases.md#tls), or the server',
};

/** Explains an error that ends a process: one line without a password, and the exit code. */
export function explainFailure(
  thrown: unknown,
  config?: Pick<Config, 'databaseUrl' | 'host' | 'port' | 'adminPort'>,
): { line: string; exitCode: 1 | 2 } {
  if (thrown instanceof ConfigError || thrown instanceof UsageError) return { line: oneLine(thrown), exitCode: 2 };
  const fault = thrown instanceof DatabaseFault && thrown.cause !== undefined ? thrown : undefined;
  const cause = fault ? fault.cause : thrown;
  const line = oneLine(cause);
  if (config === undefined) return { line, exitCode: 1 };
  const { databaseUrl, host, adminPort } = config;
  const failed: NodeJS.ErrnoException & { port?: number } = cause instanceof Error ? cause : new Error();
  const { code, errno = 0, syscall, port = config.port } = failed; // the port where it could not listen
  if (fault) {
    const advice = ADVICE[fault.meaning];
    const hasAnswered = code === undefined || code === 'ERR_SQLITE_ERROR' || errno > 0; // errors of the system have negative numbers
    const unadvised = hasAnswered ? 'cannot be used' : 'does not answer';
    const does = advice ? fault.does : unadvised;
    const sentence = `The database ${maskCredentials(databaseUrl)} ${does}: ${line.replace(/\.$/, '')}`;
    return { line: advice ? `${sentence}: ${advice}` : sentence, exitCode: 1 };
  }
  const setting = port === adminPort ? 'ADMIN_PORT' : 'PORT';
  if (code === 'EADDRINUSE') {
    const advice = `stop that one, or choose another with ${setting}=${port < PORT_MAX ? port + 1 : port - 1} npm start`;
    return { line: `Port ${port} of ${host} is in use by another program: ${advice}`, exitCode: 1 };
  }
  // Errors of files have the codes EACCES and EINVAL too. In a worker the primary listens, and `syscall` is `bind`.
  const isOfListening = syscall === 'listen' || syscall === 'bind';
  const exitCode = code === 'EINVAL' && !isOfListening ? undefined : NO_HOST.get(code);
  if (exitCode !== undefined) {
    return { line: `HOST=${JSON.stringify(host)} is not allowed: an address or a name of this machine`, exitCode };
  }
  if (code === 'EACCES' && isOfListening) {
    return {
      line: `${setting}="${port}" is not allowed: a port that this user may listen at, such as 4000`,
      exitCode: 2,
    };
  }
  return { line, exitCode: 1 };
}

function oneLine(error: unknown): string {
  // Connecting to a name with several addresses rejects with an AggregateError whose own message is empty.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(oneLine).join('; ');
  const text = error instanceof Error ? error.message || error.name : String(error);
  // The SQL that Knex puts before the reason may have the placeholders of a thousand rows.
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll(/(\(\?[?, ]*\))(?:, ?\1)+/g, '$1, …');
}
