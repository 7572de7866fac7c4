import type { ApiName } from './contenders.ts';
import { WORKLOADS } from './workloads.ts';

/** A ratio that the gateway wants to keep to another contender in the same run. */
export interface Goal {
  readonly title: string;
  readonly api: ApiName;
  readonly workload: string;
  readonly concurrency: number;
  readonly figure: 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'cpuMs';
  readonly against: string;
  /** Throughput: at least this. Latency and CPU: at most this. */
  readonly ratio: number;
}

/** `npm start` to first right answer: at most this many times the hand-written one's. */
export const START_RATIO = 1.3;

const rest = { api: 'rest', against: 'koa-knex', figure: 'requestsPerSecond', concurrency: 32 } as const;
const graphql = { api: 'graphql', against: 'mercurius', figure: 'requestsPerSecond', concurrency: 32 } as const;

const FEW = [1, 4];
const MANY = [32, 128];
/** Workloads of which the only caller asks too. */
const ALONE = WORKLOADS.filter(({ name }) => ['list-20', 'get', 'create'].includes(name));

export const GOALS: readonly Goal[] = [
  ...ALONE.flatMap(({ name: workload, title }): Goal[] =>
    FEW.flatMap((concurrency): Goal[] => [
      { ...rest, title: `REST p50, ${title}`, workload, concurrency, figure: 'p50Ms', ratio: 0.9 },
      { ...rest, title: `REST CPU, ${title}`, workload, concurrency, figure: 'cpuMs', ratio: 0.75 },
      { ...rest, title: `REST ${title}`, workload, concurrency, against: 'fastify-knex', ratio: 1 },
      { ...rest, title: `REST ${title}`, workload, concurrency, against: 'fastify-mysql2', ratio: 1 },
    ]),
  ),
  { ...rest, title: 'REST list 20, different pages', workload: 'list-20', ratio: 2 },
  { ...rest, title: 'REST list 20, different pages', workload: 'list-20', against: 'fastify-mysql2', ratio: 1 },
  { ...rest, title: 'REST list 20, same page', workload: 'list-20-same', ratio: 3.5 },
  { ...rest, title: 'REST list 20, same page', workload: 'list-20-same', concurrency: 128, ratio: 3.5 },
  ...MANY.map((concurrency): Goal => {
    return { ...rest, title: 'REST list 100, different pages', workload: 'list-100', concurrency, ratio: 1.6 };
  }),
  { ...rest, title: 'REST get by id', workload: 'get', ratio: 1.8 },
  { ...rest, title: 'REST create', workload: 'create', ratio: 1 },
  ...FEW.map((concurrency): Goal => {
    return { ...graphql, title: 'GraphQL list 20, different pages', workload: 'list-20', concurrency, ratio: 1.15 };
  }),
  { ...graphql, title: 'GraphQL list 20, different pages', workload: 'list-20', ratio: 1.6 },
  { ...graphql, title: 'GraphQL list 20, different pages', workload: 'list-20', against: 'apollo', ratio: 4.5 },
  { ...graphql, title: 'GraphQL list 20, different pages', workload: 'list-20', against: 'yoga', ratio: 3 },
  { ...graphql, title: 'GraphQL list 20, same page', workload: 'list-20-same', ratio: 2.2 },
  ...WORKLOADS.flatMap(({ name: workload, title }) =>
    [...FEW, ...MANY].map((concurrency): Goal => {
      return { ...rest, title: `REST p99, ${title}`, workload, concurrency, figure: 'p99Ms', ratio: 1 };
    }),
  ),
];
