import { parseArgs } from 'node:util';
import { type ApiName, CONTENDERS } from './contenders.ts';
import { WORKLOADS } from './workloads.ts';

/** What one call of the benchmark measures. */
export interface Options {
  readonly rounds: number;
  /** How long one measurement takes, and the warm-up before the first of a process. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Whether the system may spread the processes over the cores as it likes. */
  readonly unpinned: boolean;
  /** The address of a server of this machine to measure with, such as MySQL; by default, a private MariaDB. */
  readonly url: string | undefined;
  /** How often each `npm start` is timed. */
  readonly starts: number;
  readonly workloads: readonly string[];
  readonly contenders: readonly string[];
  readonly apis: readonly ApiName[];
  readonly concurrencies: readonly number[];
  /** Nothing is left out: only then RESULTS.md is written. */
  readonly isFull: boolean;
}

/** The timing of `npm start`, named like a workload. */
export const START = 'start';

const APIS: readonly ApiName[] = ['rest', 'graphql'];
const WORKLOAD_NAMES = [...WORKLOADS.map((workload) => workload.name), START];
const CONTENDER_NAMES = CONTENDERS.map((contender) => contender.name);
const QUICK_CONTENDERS = ['gateway', 'koa-knex', 'node-mysql2', 'fastify-mysql2', 'mercurius', 'apollo', 'yoga'];
const QUICK = { rounds: 1, seconds: 1, warmUpSeconds: 1, starts: 3, concurrencies: [32] };
const FULL = { rounds: 3, seconds: 3, warmUpSeconds: 3, starts: 10, concurrencies: [1, 4, 32, 128] };

export const HELP = `The benchmark: the gateway beside what one would write by hand or take instead.

  npm run bench                       everything, about 40 minutes; writes bench/RESULTS.md
  npm run bench -- --quick            about two minutes: one round, 32 connections, fewer contenders

  --only WORKLOADS      ${WORKLOAD_NAMES.join(', ')}
  --contenders NAMES    ${CONTENDER_NAMES.join(', ')}
  --api APIS            ${APIS.join(', ')}
  --concurrency NUMBERS connections that ask at once: ${FULL.concurrencies.join(',')}
  --rounds N            fresh starts of each process (${FULL.rounds})
  --seconds N           length of one measurement (${FULL.seconds})
  --unpinned            do not keep a core for the server under test
  --url URL             another server of this machine, mysql://root@127.0.0.1:PORT/; its database petstore is dropped

Several names or numbers are separated by commas. A narrowed run prints its tables and leaves RESULTS.md alone.`;

/** A call that cannot be understood; its message is one line. */
export class UsageError extends Error {}

/** The words of a call as Options, or undefined when it asks for help. Throws UsageError. */
export function readOptions(words: string[]): Options | undefined {
  const values = parseWords(words);
  if (values.help) return undefined;
  const defaults = values.quick ? QUICK : FULL;
  const { only, contenders, api, concurrency, rounds, seconds } = values;
  return {
    rounds: wholeNumber('--rounds', rounds, defaults.rounds, 100),
    seconds: wholeNumber('--seconds', seconds, defaults.seconds, 60),
    warmUpSeconds: defaults.warmUpSeconds,
    unpinned: values.unpinned ?? false,
    url: values.url,
    starts: defaults.starts,
    workloads: pick('--only', only, WORKLOAD_NAMES) ?? WORKLOAD_NAMES,
    contenders:
      pick('--contenders', contenders, CONTENDER_NAMES) ?? (values.quick ? QUICK_CONTENDERS : CONTENDER_NAMES),
    apis: pick('--api', api, APIS) ?? APIS,
    concurrencies:
      concurrency?.split(',').map((word) => wholeNumber('--concurrency', word, 1, 1000)) ?? defaults.concurrencies,
    isFull: Object.keys(values).every((name) => name === 'rounds' || name === 'seconds'),
  };
}

function parseWords(words: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const narrowing = { only: text, contenders: text, api: text, concurrency: text };
  try {
    const options = {
      ...narrowing,
      rounds: text,
      seconds: text,
      url: text,
      quick: flag,
      unpinned: flag,
      help: { ...flag, short: 'h' },
    } as const;
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    const [sentence] = (error as Error).message.split('. '); // parseArgs throws Errors of several sentences
    throw new UsageError(`${sentence}; --help shows what is possible.`);
  }
}

function pick<Name extends string>(
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

function wholeNumber(flag: string, value: string | undefined, fallback: number, most: number): number {
  if (value === undefined) return fallback;
  if (!/^[1-9]\d{0,3}$/.test(value) || Number(value) > most) {
    throw new UsageError(`${flag} "${value}" must be a whole number from 1 to ${most}.`);
  }
  return Number(value);
}
