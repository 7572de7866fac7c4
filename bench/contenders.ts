import { type Dialect, graphql, rest, sofa } from './dialects.ts';

export type Face = 'rest' | 'graphql';

/** A server that is measured. */
export interface Contender {
  readonly name: string;
  readonly title: string;
  /** The file that starts it, from the gateway's folder. */
  readonly script: string;
  /** How each face that it has is spoken to. */
  readonly faces: Readonly<Partial<Record<Face, Dialect>>>;
}

/** The gateway first, then who it is compared with. */
export const CONTENDERS: readonly Contender[] = [
  { name: 'gateway', title: '**this gateway**', script: 'src/main.ts', faces: { rest, graphql } },
  compared('koa-knex', 'Koa + Knex, by hand', { rest }),
  compared('node-mysql2', 'node:http + mysql2, prepared', { rest }),
  compared('fastify-knex', 'Fastify + Knex', { rest }),
  compared('fastify-mysql2', 'Fastify + mysql2, prepared', { rest }),
  compared('sofa', 'SOFA + Knex', { rest: sofa }),
  compared('mercurius', 'mercurius, jit + Knex', { graphql }),
  compared('apollo', 'Apollo Server + Knex', { graphql }),
  compared('yoga', 'Yoga, default + Knex', { graphql }),
];

function compared(name: string, title: string, faces: Contender['faces']): Contender {
  return { name, title, script: `bench/contenders/${name}.ts`, faces };
}

/** Whom the ratios of each face are to. */
export const BASELINES = { rest: 'koa-knex', graphql: 'mercurius' } as const satisfies Record<Face, string>;
