import { type Config, ConfigError } from './config.ts';
import { maskCredentials } from './credentials.ts';
import { DatabaseFault } from './errors.ts';

/** A command called with wrong words: one line on standard error, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What ends a process: one line for the person who started it, and the exit code. */
export interface Failure {
  readonly line: string;
  readonly exitCode: 1 | 2;
}

/** What the system says of a HOST that is none of this machine, or that no name server knows. */
const NO_HOST = new Set<unknown>(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN']);
const PORT_MAX = 65_535;

/** Explains anything thrown during a start or a command; never shows a password. */
export function explainFailure(thrown: unknown, config?: Pick<Config, 'databaseUrl' | 'host' | 'port'>): Failure {
  if (thrown instanceof ConfigError || thrown instanceof UsageError) return { line: oneLine(thrown), exitCode: 2 };
  const cause = thrown instanceof DatabaseFault && thrown.cause !== undefined ? thrown.cause : thrown;
  const reason = oneLine(cause);
  if (cause !== thrown && config) {
    return { line: `The database ${maskCredentials(config.databaseUrl)} does not answer: ${reason}`, exitCode: 1 };
  }
  return (config && explainAddress(cause, config)) ?? { line: reason, exitCode: 1 };
}

/** Explains why nothing can listen at HOST and PORT; undefined for anything else. */
function explainAddress(cause: unknown, { host, port }: Pick<Config, 'host' | 'port'>): Failure | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code, syscall }: NodeJS.ErrnoException = cause;
  if (code === 'EADDRINUSE') {
    const other = port < PORT_MAX ? port + 1 : port - 1;
    const line = `Port ${port} of ${host} is in use by another program: stop that one, or choose another with PORT=${other} npm start`;
    return { line, exitCode: 1 };
  }
  if (NO_HOST.has(code)) {
    const line = `HOST=${JSON.stringify(host)} is not allowed: an address or a name of this machine`;
    return { line, exitCode: code === 'ENOTFOUND' ? 2 : 1 }; // an address, or a name server's answer, may come later
  }
  // Files have this code, too. A worker listens by its primary, where it is called so.
  if (code === 'EACCES' && (syscall === 'listen' || syscall === 'bind')) {
    return { line: `PORT="${port}" is not allowed: a port that this user may listen at, such as 4000`, exitCode: 2 };
  }
  return undefined;
}

function oneLine(error: unknown): string {
  // An AggregateError, as of a name with several addresses, has its words in its parts.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(oneLine).join('; ');
  return (error instanceof Error ? error.message || error.name : String(error)).replaceAll(/\s*\n\s*/g, ' ');
}
