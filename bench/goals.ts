import type { ApiName } from './contenders.ts';
import { WORKLOADS } from './workloads.ts';

/** A ratio that the gateway wants to keep to another contender in the same run. */
export interface Goal {
  readonly title: string;
  readonly api: ApiName;
  readonly workload: string;
  readonly concurrency: number;
  readonly figure: 'requestsPerSecond' | 'p50Ms' | 'p99Ms';
  readonly against: string;
  /** Throughput: at least this. Latency: at most this. */
  readonly ratio: number;
}

/** `npm start` to first right answer: at most this many times the hand-written one's. */
export const START_RATIO = 1.5;

const rest = { api: 'rest', against: 'koa-knex', figure: 'requestsPerSecond', concurrency: 32 } as const;
const graphql = { api: 'graphql', against: 'mercurius', figure: 'requestsPerSecond', concurrency: 32 } as const;

export const GOALS: readonly Goal[] = [
  { ...rest, title: 'REST list 20, different pages', workload: 'list-20', ratio: 1.5 },
  { ...rest, title: 'REST list 20, different pages', workload: 'list-20', against: 'fastify-mysql2', ratio: 1 },
  { ...rest, title: 'REST list 20, same page', workload: 'list-20-same', ratio: 3.5 },
  { ...rest, title: 'REST list 20, same page', workload: 'list-20-same', concurrency: 128, ratio: 3.5 },
  { ...rest, title: 'REST list 100, different pages', workload: 'list-100', ratio: 1 },
  { ...rest, title: 'REST get by id', workload: 'get', ratio: 1.8 },
  { ...rest, title: 'REST create', workload: 'create', ratio: 1 },
  { ...graphql, title: 'GraphQL list 20, different pages', workload: 'list-20', ratio: 1.25 },
  { ...graphql, title: 'GraphQL list 20, different pages', workload: 'list-20', against: 'apollo', ratio: 4 },
  { ...graphql, title: 'GraphQL list 20, different pages', workload: 'list-20', against: 'yoga', ratio: 3 },
  { ...graphql, title: 'GraphQL list 20, same page', workload: 'list-20-same', ratio: 2.2 },
  ...WORKLOADS.map(({ name, title }): Goal => {
    return { ...rest, title: `REST p50, ${title}`, workload: name, concurrency: 1, figure: 'p50Ms', ratio: 1.15 };
  }),
  ...WORKLOADS.map(({ name, title }): Goal => {
    return { ...rest, title: `REST p99, ${title}`, workload: name, concurrency: 128, figure: 'p99Ms', ratio: 1 };
  }),
];
