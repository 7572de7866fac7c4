import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Config, readConfig, settingNames } from './config.ts';
import { loadDotEnv, type UnknownName } from './dot-env.ts';
import { explainFailure, UsageError } from './failure.ts';
import { VERSION } from './product.ts';

interface Program<Options extends ParseArgsOptionsConfig> {
  /** What `--help` prints. */
  readonly help: string;
  readonly options: Options;
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
    const unknownNames = loadDotEnv(process.env);
    // Set, though empty: a worker that begins later takes nothing from a `.env` that was changed since.
    for (const name of settingNames()) process.env[name] ??= '';
    config = readConfig();
    await program.run({ ...words, config, unknownNames });
  } catch (error) {
    const { line, exitCode } = explainFailure(error, config);
    console.error(line);
    process.exit(exitCode);
  }
}

/** The options of every program. */
const COMMON_OPTIONS: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } };
const COMMON_HELP = `
  --help       this page
  --version    the version of the gateway and its commit, alone`;

/** Parses the command line; gives the text that `--help` or `--version` asks for, if it has one. Throws UsageError. */
function readWords<Options extends ParseArgsOptionsConfig>({ help, options, positionals: most = 0 }: Program<Options>) {
  const { values, positionals } = parse({ ...options, ...COMMON_OPTIONS });
  // npm takes options for itself when no `--` stands before them, and puts them into the environment:
  // https://docs.npmjs.com/cli/v11/using-npm/config#environment-variables
  const isTaken = (name: string) => process.env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined;
  const swallowed = Object.keys(options).filter((name) => !(name in values) && isTaken(name));
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
