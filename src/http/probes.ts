import type { Context } from 'koa';
import { ApiError } from '../errors.ts';

/** What the probes ask. */
export interface ProbeParts {
  /** Throws when a request could not be served: the database is away, or its schema is not current. Gives what to add. */
  readonly checkReady: () => Promise<object>;
  readonly isDraining: () => boolean;
  /** The metrics page of all processes of this gateway, in Prometheus's text format. */
  readonly collectMetrics: () => Promise<string>;
}

/** The paths that need no key, for those who run the service; each is answered for GET and HEAD. */
export function createProbes({ checkReady, isDraining, collectMetrics }: ProbeParts) {
  return {
    '/livez': (ctx: Context) => {
      ctx.body = { status: 'ok' };
    },
    '/readyz': async (ctx: Context) => {
      if (isDraining()) throw new ApiError('service_unavailable', 'The gateway is shutting down.');
      ctx.body = { status: 'ok', ...(await checkReady()) };
    },
    '/metrics': async (ctx: Context) => {
      // https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
      ctx.set('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
      ctx.body = await collectMetrics();
    },
  };
}
