import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import type { ApiError } from './errors.ts';

export type { Logger } from 'pino';

/** `listener`, of which nothing that it throws reaches the process: it is logged, and lost. */
export function harmless<Arguments extends readonly unknown[]>(
  log: Pick<Logger, 'error'>,
  listener: (...given: Arguments) => void,
): (...given: Arguments) => void {
  return (...given) => {
    try {
      listener(...given);
    } catch (error) {
      try {
        log.error({ err: error }, 'a listener failed');
      } catch {
        // a log that cannot be written must not end the process, either
      }
    }
  };
}

/**
 * One JSON line per event, by default on standard output. Nothing that holds a key or a body is ever handed to it.
 */
export function createLog(level: Config['logLevel'], stream: DestinationStream = bufferedOutput()) {
  return pino({ level, base: null, timestamp: isoTimeOncePerMs(), serializers: { err: describeError } }, stream);
}

/** What a server quotes of a value: `Incorrect integer value: '…' for column 'age' at row 1`. Its end is told by what follows. */
const QUOTED_VALUE = /\b((?:value|entry):? )(?:'.*'(?= for (?:column|key)\b)|'.*'(?=\s*(?:$|\n {4}at )))/gis;

/** An error as pino writes it, but for what a database repeats of a row: mysql2 adds the statement, values included. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { sql, sqlMessage, message, stack, ...told } = pino.stdSerializers.err(error);
  const hide = (text: string) => text.replaceAll(QUOTED_VALUE, "$1'…'");
  return { message: hide(message), stack: hide(stack), ...told };
}

const BATCH_CHARACTERS = 64_000;
const FLUSH_MS = 100;

/** pino's isoTime, but under load some twenty lines share a millisecond and its text. */
function isoTimeOncePerMs(): () => string {
  let writtenMs = 0;
  let text = '';
  return () => {
    const ms = Date.now();
    if (ms !== writtenMs) {
      writtenMs = ms;
      text = `,"time":"${new Date(ms).toISOString()}"`;
    }
    return text;
  };
}

/**
 * Under load many lines are one write, for each costs as much as a query; a process that exits writes what is left.
 * Not pino's own minLength: it measures all that waits anew at each line.
 */
function bufferedOutput(): DestinationStream {
  const output = destination({ dest: 1, sync: false });
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    output.write(lines);
    lines = '';
  };
  process.on('exit', () => {
    flush();
    output.flushSync();
  });
  return {
    write(line) {
      lines += line;
      if (lines.length >= BATCH_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
  };
}

/** Logs the cause of a refusal that is a fault of ours, under its request's id; other refusals are nobody's fault. */
export function logFault(log: Logger, { cause, status, message }: ApiError, requestId: string): void {
  if (cause !== undefined && status >= 500) log.error({ err: cause, requestId }, message);
}
