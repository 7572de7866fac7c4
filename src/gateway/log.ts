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
 * Creates the log: a JSON line per event, by default on standard output, which several processes write to if it `isShared`. Never log
 * values that hold a key or a body.
 */
export function createLog(level: Config['logLevel'], stream?: DestinationStream, isShared = false): Logger {
  const tell = (lines: number) =>
    log.warn({ lines }, 'lines of the log were dropped: standard output did not take them');
  const log: Logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    stream ?? boundedOutput(isShared, tell),
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

/** A batch of lines is no longer than this, or than its one line, and is written after this time. Lines of a longer one survive collections. */
const BATCH_BYTES = 8000;
/**
 * The same where processes share a pipe, which takes so many bytes whole or not at all (PIPE_BUF, pipe(7)). Of a longer write it may take
 * a part, and lines of another process behind that: nothing helps a longer line.
 */
const SHARED_BATCH_BYTES = 4096;
const BATCH_MS = 100;
/** How much of lines, in characters, is buffered while the reader of standard output, such as a log driver, does not read. */
const WAITING_LENGTH = 4 * 2 ** 20;

/**
 * A stream to standard output that writes lines in batches, because each write costs CPU. While WAITING_LENGTH are buffered
 * (backpressure), further batches are dropped and their lines counted, as those of a write that fails. When the buffer is empty
 * again, `tell` gets their number.
 */
function boundedOutput(isShared: boolean, tell: (lines: number) => void) {
  const output = createOutput(isShared);
  const batchMax = isShared ? SHARED_BATCH_BYTES : BATCH_BYTES;
  let batch = '';
  let batchBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let dropped = 0;
  let told = 0;
  const writeBatch = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = batch;
    batch = '';
    batchBytes = 0;
    const drop = () => {
      dropped += text.split('\n').length - 1;
    };
    if (output.waitingLength() + text.length > WAITING_LENGTH) return drop();
    output.write(text, (error) => {
      if (error) return drop();
      const lines = output.waitingLength() === 0 ? dropped - told : 0;
      told += lines;
      if (lines > 0) tell(lines);
    });
  };
  process.on('exit', writeBatch);
  return {
    get dropped() {
      return dropped;
    },
    write(line: string) {
      const bytes = Buffer.byteLength(line);
      if (batchBytes > 0 && batchBytes + bytes > batchMax) writeBatch();
      batch += line;
      batchBytes += bytes;
      timer ??= setTimeout(writeBatch, BATCH_MS).unref();
    },
    /** Calls back when all lines are written. `Logger.flush` calls this function. */
    flush(done: () => void) {
      writeBatch();
      output.write('', done);
    },
  };
}

/**
 * Writes texts to standard output; one after another if it `isShared`, because Node joins to one write what waits behind another. It
 * writes to files synchronously, and to pipes without blocking: https://nodejs.org/api/process.html#a-note-on-process-io
 */
function createOutput(isShared: boolean) {
  const { stdout } = process;
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(isBlocking: boolean): unknown } };
  const waiting: { text: string; done: (error?: Error | null) => void }[] = [];
  let waitingLength = 0;
  let handedOver = 0;
  const writeNext = () => {
    // Not by `handedOver` alone: what is written at once is told later, and at the exit never.
    if (isShared && handedOver > 0 && stdout.writableLength > 0) return;
    const next = waiting.shift();
    if (next === undefined) return;
    // Starting a worker makes a pipe that the worker inherits blocking for both processes, and Node has no documented
    // way to undo that: https://github.com/libuv/libuv/blob/v1.x/src/unix/process.c
    if (!stdout.isTTY) handle?.setBlocking?.(false);
    handedOver++;
    stdout.write(next.text, (error) => {
      handedOver--;
      waitingLength -= next.text.length;
      next.done(error);
      writeNext();
    });
  };
  stdout.on('error', () => {}); // a closed pipe or a full disk must not end the process
  return {
    /** How much is not written yet, in characters. */
    waitingLength: () => waitingLength,
    write(text: string, done: (error?: Error | null) => void) {
      waiting.push({ text, done });
      waitingLength += text.length;
      writeNext();
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
