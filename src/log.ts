import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import type { ApiError } from './errors.ts';

export type { Logger } from 'pino';

/** `listener`, of which nothing that it throws reaches the process: it is logged, and lost. */
export function safely<Arguments extends readonly unknown[]>(
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
export function createLog(level: Config['logLevel'], stream?: DestinationStream): Logger {
  const tell = (lines: number) =>
    log.warn({ lines }, 'lines of the log were dropped: standard output did not take them');
  const log: Logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    stream ?? boundedOutput(tell),
  );
  return log;
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

/** How many lines of a log were dropped so far. */
export function droppedLines(log: Logger): number {
  return (log as unknown as { [pino.symbols.streamSym]: Partial<Output> })[pino.symbols.streamSym].dropped ?? 0; // every logger has its stream
}

/** Where lines go. */
interface Output extends DestinationStream {
  /** Lines so far that were not written. */
  readonly dropped: number;
  /** Writes what is left; calls back when it is written. `Logger.flush` comes here. */
  flush(done: () => void): void;
}

const BATCH_CHARACTERS = 64_000;
const FLUSH_MS = 100;
/** What may wait for a reader of standard output: of a pipe to a log driver that has stopped, for example. */
const WAITING_BYTES = 4 * 2 ** 20;

/**
 * Standard output. Under load many lines are one write, for each costs as much as a query. What nobody reads is dropped beyond
 * a bound, counted, and told when lines are read again. Node writes to files at once, and to pipes without blocking:
 * https://nodejs.org/api/process.html#a-note-on-process-io
 */
function boundedOutput(tell: (lines: number) => void): Output {
  const { stdout } = process;
  let batch = '';
  let lines = 0;
  let dropped = 0;
  let untold = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (stdout.writableLength + batch.length <= WAITING_BYTES) writeWithoutBlocking(stdout, batch);
    else drop();
    batch = '';
    lines = 0;
  };
  const drop = () => {
    if (untold === 0) stdout.once('drain', tellDropped);
    untold += lines;
    dropped += lines;
  };
  const tellDropped = () => {
    tell(untold);
    untold = 0;
  };
  stdout.on('error', () => {}); // of a pipe that was closed, or a full disk: neither ends the process
  process.on('exit', flush);
  return {
    get dropped() {
      return dropped;
    },
    write(line) {
      batch += line;
      lines++;
      if (batch.length >= BATCH_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush(done) {
      flush();
      stdout.write('', () => done());
    },
  };
}

/**
 * Whoever starts a process that inherits a pipe, as a primary does with its workers, makes it a blocking one for all who have
 * it: https://github.com/libuv/libuv/blob/v1.x/src/unix/process.c. Node does not document how to take that back.
 */
function writeWithoutBlocking(stdout: NodeJS.WriteStream, lines: string): void {
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(isBlocking: boolean): unknown } };
  if (!stdout.isTTY) handle?.setBlocking?.(false);
  stdout.write(lines);
}

/** Logs the cause of a refusal that is a fault of ours, under its request's id; other refusals are nobody's fault. */
export function logFault(log: Logger, { cause, status, message }: ApiError, requestId: string): void {
  if (cause !== undefined && status >= 500) log.error({ err: cause, requestId }, message);
}
