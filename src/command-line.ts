import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { UsageError } from './failure.ts';

/** The words of a call. */
export interface Words<Options extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<typeof parseArgs<{ options: Options }>>['values'];
  readonly positionals: readonly string[];
  /** Whether `--help` or `-h` is among them. */
  readonly help: boolean;
}

/**
 * The words that follow the program's name, by default those of this process: `options`, and at most `positionals` words
 * that are none. Throws UsageError, with one line that says what is wrong.
 */
export function readCommandLine<Options extends ParseArgsOptionsConfig>(
  options: Options,
  positionals = 0,
  words: readonly string[] = process.argv.slice(2),
): Words<Options> {
  const withHelp = { ...options, help: { type: 'boolean' as const, short: 'h' } };
  const parsed = parse(() => parseArgs({ args: [...words], options: withHelp, allowPositionals: true, tokens: true }));
  const given = new Set(parsed.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])));
  const swallowed = Object.keys(options).filter((name) => !given.has(name) && npmTook(name));
  if (swallowed.length > 0) {
    const again = swallowed.map((name) => (options[name]?.type === 'boolean' ? `--${name}` : `--${name} …`));
    const call = [...parsed.positionals.slice(0, positionals), ...again].join(' ');
    throw new UsageError(`npm took --${swallowed.join(', --')} for itself; put -- first: ${npmScript()} -- ${call}`);
  }
  const extra = parsed.positionals[positionals];
  if (extra !== undefined) throw new UsageError(`Unknown word "${extra}"; --help shows what is possible.`);
  // parseArgs gives the values of `options`, and help; its type forgets the generic.
  const values = parsed.values as Words<Options>['values'];
  return { values, positionals: parsed.positionals, help: given.has('help') };
}

/**
 * Whether npm was given the option in place of the program, because no `--` stood before it: npm hands its own settings
 * on in the environment, https://docs.npmjs.com/cli/v11/using-npm/config#environment-variables
 */
function npmTook(option: string): boolean {
  return process.env[`npm_config_${option.replaceAll('-', '_')}`] !== undefined;
}

function npmScript(): string {
  const script = process.env.npm_lifecycle_event ?? 'start';
  return script === 'start' ? 'npm start' : `npm run ${script}`;
}

function parse<Parsed>(read: () => Parsed): Parsed {
  try {
    return read();
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\.\s/); // parseArgs throws Errors of several sentences
    throw new UsageError(`${sentence}; --help shows what is possible.`);
  }
}
