import { type Dialect, graphql, rest, sofa } from './dialects.ts';

export type ApiName = 'rest' | 'graphql';

/** A server that is measured. */
export interface Contender {
  readonly name: string;
  readonly title: string;
  /** The file that starts it, from the gateway's folder. */
  readonly script: string;
  /** How each api that it has is spoken to. */
  readonly apis: Readonly<Partial<Record<ApiName, Dialect>>>;
}

/** The gateway first, then who it is compared with. */
export const CONTENDERS: readonly Contender[] = [
  { name: 'gateway', title: '**this gateway**', script: 'start.js', apis: { rest, graphql } },
  compared('koa-knex', 'Koa + Knex, by hand', { rest }),
  compared('node-mysql2', 'node:http + mysql2, prepared', { rest }),
  compared('fastify-knex', 'Fastify + Knex', { rest }),
  compared('fastify-mysql2', 'Fastify + mysql2, prepared', { rest }),
  compared('sofa', 'SOFA + Knex', { rest: sofa }),
  compared('mercurius', 'mercurius, jit + Knex', { graphql }),
  compared('apollo', 'Apollo Server + Knex', { graphql }),
  compared('yoga', 'Yoga, default + Knex', { graphql }),
];

function compared(name: string, title: string, apis: Contender['apis']): Contender {
  return { name, title, script: `bench/contenders/${name}.ts`, apis };
}

/** Whom the ratios of each api are to. */
export const BASELINES = { rest: 'koa-knex', graphql: 'mercurius' } as const satisfies Record<ApiName, string>;
