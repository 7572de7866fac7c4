import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import type { ApiError } from './errors.ts';

export type { Logger } from 'pino';

/** Wraps `listener`: an error that it throws is logged instead of ending the process. */
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
        // an error of the log must not end the process either
      }
    }
  };
}

/**
 * Creates the log: a JSON line per event, by default on standard output. Never log values that hold a key or a body.
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

/**
 * The value that a MySQL message quotes: `Incorrect integer value: '…' for column 'age' at row 1`. A value may hold
 * quotes.
 */
const QUOTED_VALUE = /\b((?:value|entry):? )(?:'.*'(?= for (?:column|key)\b)|'.*'(?=\s*(?:$|\n {4}at )))/gis;

/**
 * Gives an error as pino writes it, without values of a row: mysql2 adds the statement, and MySQL's messages quote
 * values.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { sql, sqlMessage, message, stack, ...rest } = pino.stdSerializers.err(error);
  const hide = (text: string) => text.replaceAll(QUOTED_VALUE, "$1'…'");
  return { message: hide(message), stack: hide(stack), ...rest };
}

/** How many lines of a log were dropped so far. */
export function droppedLines(log: Logger): number {
  const { [pino.symbols.streamSym]: stream } = log as unknown as { [pino.symbols.streamSym]: { dropped?: number } }; // pino sets it
  return stream.dropped ?? 0;
}

/** A batch of lines is written at this length, in characters, or after this time, in ms. Lines of a longer one survive collections. */
const BATCH_LENGTH = 8000;
const BATCH_MS = 100;
/** How many bytes of lines are buffered while the reader of standard output, such as a log driver, does not read. */
const WAITING_BYTES = 4 * 2 ** 20;

/**
 * A stream to standard output that writes lines in batches, because each write costs CPU. While WAITING_BYTES are buffered
 * (backpressure), further batches are dropped and their lines counted, as those of a write that fails. When the buffer is empty
 * again, `tell` gets their number. Node writes to files synchronously, and to pipes without blocking:
 * https://nodejs.org/api/process.html#a-note-on-process-io
 */
function boundedOutput(tell: (lines: number) => void) {
  const { stdout } = process;
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(isBlocking: boolean): unknown } };
  let batch = '';
  let timer: NodeJS.Timeout | undefined;
  let dropped = 0;
  let told = 0;
  const writeBatch = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = batch;
    const drop = () => {
      dropped += text.split('\n').length - 1;
    };
    if (stdout.writableLength + text.length > WAITING_BYTES) drop();
    else {
      // Starting a worker makes a pipe that the worker inherits blocking for both processes, and Node has no documented
      // way to undo that: https://github.com/libuv/libuv/blob/v1.x/src/unix/process.c
      if (!stdout.isTTY) handle?.setBlocking?.(false);
      stdout.write(text, (error) => {
        if (error) return drop();
        const lines = stdout.writableLength === 0 ? dropped - told : 0;
        told += lines;
        if (lines > 0) tell(lines);
      });
    }
    batch = '';
  };
  stdout.on('error', () => {}); // a closed pipe or a full disk must not end the process
  process.on('exit', writeBatch);
  return {
    get dropped() {
      return dropped;
    },
    write(line: string) {
      batch += line;
      if (batch.length >= BATCH_LENGTH) writeBatch();
      else timer ??= setTimeout(writeBatch, BATCH_MS).unref();
    },
    /** Calls back when all lines are written. `Logger.flush` calls this function. */
    flush(done: () => void) {
      writeBatch();
      stdout.write('', () => done());
    },
  };
}

/** Logs the cause of an error of status 500 and above, with the id of the request. */
export function logFault(log: Logger, { cause, status, message }: ApiError, requestId: string): void {
  if (cause !== undefined && status >= 500) log.error({ err: cause, requestId }, message);
}

/**
 * Gives a stream that formats log lines for people. Undefined, for lines of JSON, when standard output is no terminal
 * or pino-pretty, a development dependency, is not installed.
 */
export async function readableOutput(): Promise<DestinationStream | undefined> {
  if (!process.stdout.isTTY) return undefined;
  const pretty = await import('pino-pretty').catch(() => undefined);
  return pretty?.default({
    ignore: 'api,operation,method,path,status,ms,requestId,clientAddress,keyId', // in `messageFormat`, or of use to programs only
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    messageFormat: ({ msg, method, path, status, ms }) => {
      const text = msg === 'request' ? `${method} ${path} ${status} in ${ms} ms` : String(msg ?? '');
      return text.replaceAll(/\p{Cc}/gu, '�'); // a terminal would obey control characters
    },
  });
}
