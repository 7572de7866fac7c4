/** What the pool itself refuses with. */
export function poolError(
  code: `POOL_${'CLOSED' | 'TIMEOUT' | 'NO_WRITER' | 'NOT_COMMITTED' | 'NOT_UNDERSTOOD' | 'TRUST' | 'SETTING_REFUSED'}`,
  message: string,
  cause?: unknown,
): Error {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code });
}
