import { type Config, ConfigError } from './config.ts';
import { DatabaseFault } from './errors.ts';
import { maskCredentials } from './masking.ts';

/** A wrong command line: the message is printed as one line on standard error, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Error codes of a HOST that is no address of this machine or has no address. */
const NO_HOST = new Set<unknown>(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN']);
const PORT_MAX = 65_535;

/** What to do about a fault of the database, by its meaning. */
const ADVICE: Partial<Record<DatabaseFault['meaning'], string>> = {
  accessDenied: 'correct DATABASE_URL, or the account and its rights at the server',
  unknownDatabase: 'create it, or correct its name in DATABASE_URL',
  untrusted: 'correct the options of DATABASE_URL (docs/databases.md#tls), or the server',
};

/** Explains an error that ends a process: one line without a password, and the exit code. */
export function explainFailure(
  thrown: unknown,
  config?: Pick<Config, 'databaseUrl' | 'host' | 'port' | 'adminPort'>,
): { line: string; exitCode: 1 | 2 } {
  if (thrown instanceof ConfigError || thrown instanceof UsageError) return { line: oneLine(thrown), exitCode: 2 };
  const fault = thrown instanceof DatabaseFault && thrown.cause !== undefined ? thrown : undefined;
  const cause = fault ? fault.cause : thrown;
  const line = oneLine(cause);
  if (config === undefined) return { line, exitCode: 1 };
  const { databaseUrl, host, adminPort } = config;
  if (fault) {
    const advice = ADVICE[fault.meaning];
    const unadvised = hasAnswered(cause) ? 'cannot be used' : 'does not answer';
    const does = advice ? fault.message.slice('The database '.length, -1) : unadvised;
    const sentence = `The database ${maskCredentials(databaseUrl)} ${does}: ${line.replace(/\.$/, '')}`;
    return { line: advice ? `${sentence}: ${advice}` : sentence, exitCode: 1 };
  }
  const failed: NodeJS.ErrnoException & { port?: number } = cause instanceof Error ? cause : new Error();
  const { code, syscall, port = config.port } = failed; // the port where it could not listen
  const setting = port === adminPort ? 'ADMIN_PORT' : 'PORT';
  if (code === 'EADDRINUSE') {
    const advice = `stop that one, or choose another with ${setting}=${port < PORT_MAX ? port + 1 : port - 1} npm start`;
    return { line: `Port ${port} of ${host} is in use by another program: ${advice}`, exitCode: 1 };
  }
  if (NO_HOST.has(code)) {
    const refusal = `HOST=${JSON.stringify(host)} is not allowed: an address or a name of this machine`;
    // Exit code 1 where a later start may succeed: the address may be added, or the name server may answer.
    return { line: refusal, exitCode: code === 'ENOTFOUND' ? 2 : 1 };
  }
  // Errors of files have the code EACCES too. In a worker the primary listens, and `syscall` is `bind`.
  if (code === 'EACCES' && (syscall === 'listen' || syscall === 'bind')) {
    return {
      line: `${setting}="${port}" is not allowed: a port that this user may listen at, such as 4000`,
      exitCode: 2,
    };
  }
  return { line, exitCode: 1 };
}

/** Whether the cause of a fault is an answer of the database, and no error of the network. */
function hasAnswered(cause: unknown): boolean {
  const { code, errno = 0 }: NodeJS.ErrnoException = cause instanceof Error ? cause : new Error();
  return code === undefined || code === 'ERR_SQLITE_ERROR' || errno > 0; // errors of the system have negative numbers
}

function oneLine(error: unknown): string {
  // Connecting to a name with several addresses rejects with an AggregateError whose own message is empty.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(oneLine).join('; ');
  const text = error instanceof Error ? error.message || error.name : String(error);
  // The SQL that Knex puts before the reason may have the placeholders of a thousand rows.
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll(/(\(\?[?, ]*\))(?:, ?\1)+/g, '$1, …');
}
