import type { Context } from 'koa';
import { ApiError } from '../errors.ts';
import type { OpenRoute } from '../web/route.ts';

/** What the probes ask. */
export interface ProbeParts {
  /** Throws when a request could not be served: the database is away, or its schema is not current. Gives what to add. */
  readonly checkReady: () => Promise<object>;
  readonly isDraining: () => boolean;
  /** The metrics page of all processes of this gateway, in Prometheus's text format. */
  readonly collectMetrics: () => Promise<string>;
}

/** What those ask who run the service. */
export function createProbes({ checkReady, isDraining, collectMetrics }: ProbeParts): OpenRoute[] {
  const handlers: Readonly<Record<string, (ctx: Context) => unknown>> = {
    '/livez': (ctx) => writeJson(ctx, { status: 'ok' }),
    '/readyz': async (ctx) => {
      if (isDraining()) throw new ApiError('service_unavailable', 'The gateway is shutting down.');
      writeJson(ctx, { status: 'ok', ...(await checkReady()) });
    },
    '/metrics': async (ctx) => {
      // https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
      ctx.set('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
      ctx.body = await collectMetrics();
    },
  };
  return Object.entries(handlers).map(([path, handle]) => ({ path, operation: path.slice(1), handle }));
}

function writeJson(ctx: Context, content: object): void {
  ctx.type = 'json';
  ctx.body = JSON.stringify(content);
}
