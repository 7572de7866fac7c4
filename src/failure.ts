import { type Config, ConfigError } from './config.ts';
import { maskCredentials } from './credentials.ts';
import { ApiError } from './errors.ts';

/** A command called with wrong words: one line on standard error, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What ends a process: one line for the person who started it, and the exit code. */
export interface Failure {
  readonly line: string;
  readonly exitCode: 1 | 2;
}

/** Explains anything thrown during a start or a command; never shows a password. */
export function explainFailure(thrown: unknown, config?: Pick<Config, 'databaseUrl' | 'host' | 'port'>): Failure {
  if (thrown instanceof ConfigError || thrown instanceof UsageError) return { line: oneLine(thrown), exitCode: 2 };
  const cause = thrown instanceof ApiError && thrown.cause !== undefined ? thrown.cause : thrown;
  const reason = oneLine(cause);
  if (cause !== thrown && config) {
    return { line: `The database ${maskCredentials(config.databaseUrl)} does not answer: ${reason}`, exitCode: 1 };
  }
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EADDRINUSE' && config) {
    const { port, host } = config;
    const line = `Port ${port} of ${host} is in use by another program: stop that one, or choose another with PORT=${port + 1} npm start`;
    return { line, exitCode: 1 };
  }
  return { line: reason, exitCode: 1 };
}

function oneLine(error: unknown): string {
  // An AggregateError, as of a name with several addresses, has its words in its parts.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(oneLine).join('; ');
  return (error instanceof Error ? error.message || error.name : String(error)).replaceAll(/\s*\n\s*/g, ' ');
}
