import type { Call, OpenRoute } from './call.ts';

/** An open route that serves a text in UTF-8. */
export function textRoute(
  path: string,
  operation: string,
  type: string,
  write: (call: Call) => string | Promise<string>,
): OpenRoute {
  return {
    path,
    operation,
    async handle(call) {
      const body = await write(call);
      return { status: 200, headers: { 'Content-Type': `${type}; charset=utf-8` }, body };
    },
  };
}

/** The paths of the probes and of the metrics, by their operations. */
export const PROBES = { livez: '/livez', readyz: '/readyz', metrics: '/metrics' } as const;
/** All of them: those that ADMIN_PORT serves. */
export const PROBE_PATHS: readonly string[] = Object.values(PROBES);

/** Answers as long as the process runs. */
export const LIVEZ = textRoute(PROBES.livez, 'livez', 'application/json', () => '{"status":"ok"}');
