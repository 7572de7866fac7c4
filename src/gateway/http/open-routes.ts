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

/** Answers as long as the process runs. */
export const LIVEZ = textRoute('/livez', 'livez', 'application/json', () => '{"status":"ok"}');

/** The paths of the probes and of the metrics: those that ADMIN_PORT serves. */
export const PROBE_PATHS: readonly string[] = ['/livez', '/readyz', '/metrics'];
