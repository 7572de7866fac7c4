import { pick, ROUNDS, readFlags, readLength, TEXT, wholeNumber } from './call.ts';
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
  /** Nothing is left out, no round either: only then RESULTS.md is written. */
  readonly isFull: boolean;
}

/** The timing of `npm start`, named like a workload. */
export const START = 'start';

const APIS: readonly ApiName[] = ['rest', 'graphql'];
const WORKLOAD_NAMES = [...WORKLOADS.map((workload) => workload.name), START];
const CONTENDER_NAMES = CONTENDERS.map((contender) => contender.name);
const QUICK_CONTENDERS = ['gateway', 'koa-knex', 'node-mysql2', 'fastify-mysql2', 'mercurius', 'apollo', 'yoga'];
const QUICK = { rounds: 1, seconds: 1, warmUpSeconds: 1, starts: 3, concurrencies: [32] };
const FULL = { rounds: ROUNDS, seconds: 3, warmUpSeconds: 3, starts: 10, concurrencies: [1, 4, 32, 128] };

const BOOLEAN = { type: 'boolean' } as const;
const NARROWING = { only: TEXT, contenders: TEXT, api: TEXT, concurrency: TEXT };
const FLAGS = { ...NARROWING, rounds: TEXT, seconds: TEXT, url: TEXT, quick: BOOLEAN, unpinned: BOOLEAN };

const HELP = `The benchmark: the gateway beside what one would write by hand or take instead.

  npm run bench                       everything, more than an hour; writes bench/RESULTS.md
  npm run bench -- --quick            about four minutes: one round, 32 connections, fewer contenders

  --only WORKLOADS      ${WORKLOAD_NAMES.join(', ')}
  --contenders NAMES    ${CONTENDER_NAMES.join(', ')}
  --api APIS            ${APIS.join(', ')}
  --concurrency NUMBERS connections that ask at once: ${FULL.concurrencies.join(',')}
  --rounds N            fresh starts of each process (${FULL.rounds})
  --seconds N           length of one measurement (${FULL.seconds})
  --unpinned            do not keep a core for the server under test
  --url URL             another server of this machine, mysql://root@127.0.0.1:PORT/; its database petstore_bench is dropped

Several names or numbers are separated by commas. A run that is narrowed, or has fewer
rounds, prints its tables and leaves RESULTS.md alone.`;

/** The words of a call as Options; HELP when they ask for it, which ends the process. Throws UsageError. */
export function readOptions(words: string[]): Options {
  const values = readFlags(FLAGS, words, () => HELP);
  const defaults = values.quick ? QUICK : FULL;
  const { only, contenders, api, concurrency } = values;
  const { rounds, seconds, isLong } = readLength(values, defaults);
  return {
    rounds,
    seconds,
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
    isFull: isLong && Object.keys(values).every((name) => name === 'rounds' || name === 'seconds'),
  };
}
