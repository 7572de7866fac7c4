import { readFileSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A call that cannot be understood; its message is one line. */
export class UsageError extends Error {}

/** A flag that has a word behind it. */
export const TEXT = { type: 'string' } as const;

/**
 * What the flags among `words` say. `--help` prints `help`, by default the comment at the head of the script, and ends the
 * process. Throws UsageError.
 */
export function readFlags<Flags extends NonNullable<ParseArgsConfig['options']>>(
  options: Flags,
  words: string[] = process.argv.slice(2),
  help: () => string = headComment,
) {
  if (words.includes('--help') || words.includes('-h')) {
    console.log(help());
    process.exit(0);
  }
  try {
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    const [sentence] = (error as Error).message.split('. '); // parseArgs throws Errors of several sentences
    throw new UsageError(`${sentence}; --help shows what is possible.`);
  }
}

function headComment(): string {
  const [, comment = ''] = /^\/\*\n([\s\S]*?)\n \*\//.exec(readFileSync(process.argv[1] ?? '', 'utf8')) ?? [];
  return comment.replaceAll(/^ \* /gm, '');
}

/** The names in a flag's value, which commas separate; undefined without the flag. Throws UsageError. */
export function pick<Name extends string>(
  flag: string,
  value: string | undefined,
  known: readonly Name[],
): Name[] | undefined {
  return value?.split(',').map((word) => {
    const name = known.find((candidate) => candidate === word);
    if (name === undefined) throw new UsageError(`${flag} "${word}" must be among ${known.join(', ')}.`);
    return name;
  });
}

/** The number in a flag's value, `fallback` without the flag. Throws UsageError. */
export function wholeNumber(flag: string, value: string | undefined, fallback: number, most: number): number {
  if (value === undefined) return fallback;
  if (!/^[1-9]\d*$/.test(value) || Number(value) > most) {
    throw new UsageError(`${flag} "${value}" must be a whole number from 1 to ${most}.`);
  }
  return Number(value);
}

/** Fresh starts of each process, at least and by default. */
export const ROUNDS = 3;
const ROUNDS_MAX = 100;
const SECONDS_MAX = 60;

/** `--rounds` and `--seconds`. A process may be off for its whole life: a report of fewer rounds than usual is not kept. */
export function readLength(
  { rounds, seconds }: { rounds?: string | undefined; seconds?: string | undefined },
  defaults: { rounds?: number; seconds: number },
) {
  const count = wholeNumber('--rounds', rounds, defaults.rounds ?? ROUNDS, ROUNDS_MAX);
  return {
    rounds: count,
    seconds: wholeNumber('--seconds', seconds, defaults.seconds, SECONDS_MAX),
    isLong: count >= ROUNDS,
  };
}
