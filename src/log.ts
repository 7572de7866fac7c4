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

/** One JSON line per event, by default on standard output. Nothing that holds a key or a body is ever handed to it. */
export function createLog(level: Config['logLevel'], stream?: DestinationStream): Logger {
  const tell = (lines: number) =>
    log.warn({ lines }, 'lines of the log were dropped: standard output did not take them');
  const log: Logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    stream ?? boundedOutput(tell),
  );
  return log;
}

/** What a server quotes of a value: `Incorrect integer value: '…' for column 'age' at row 1`. A value may hold quotes. */
const QUOTED_VALUE = /\b((?:value|entry):? )(?:'.*'(?= for (?:column|key)\b)|'.*'(?=\s*(?:$|\n {4}at )))/gis;

/** An error as pino writes it, but for what a database repeats of a row: mysql2 adds the statement with its values. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { sql, sqlMessage, message, stack, ...rest } = pino.stdSerializers.err(error);
  const hide = (text: string) => text.replaceAll(QUOTED_VALUE, "$1'…'");
  return { message: hide(message), stack: hide(stack), ...rest };
}

/** How many lines of a log were dropped so far. */
export function droppedLines(log: Logger): number {
  const { [pino.symbols.streamSym]: stream } = log as unknown as { [pino.symbols.streamSym]: { dropped?: number } }; // each has one
  return stream.dropped ?? 0;
}

/** What may wait for the reader of standard output, such as a log driver behind a pipe that has stopped. */
const WAITING_BYTES = 4 * 2 ** 20;

/**
 * Standard output. Beyond a bound, lines that nobody reads are dropped, counted, and told when lines are read again. Node
 * writes to files synchronously, and to pipes without blocking: https://nodejs.org/api/process.html#a-note-on-process-io
 */
function boundedOutput(tell: (lines: number) => void) {
  const { stdout } = process;
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(isBlocking: boolean): unknown } };
  let dropped = 0;
  let told = 0;
  const tellDropped = () => {
    tell(dropped - told);
    told = dropped;
  };
  stdout.on('error', () => {}); // of a pipe that was closed, or a full disk: neither ends the process
  return {
    get dropped() {
      return dropped;
    },
    write(line: string) {
      if (stdout.writableLength > WAITING_BYTES) {
        if (dropped === told) stdout.once('drain', tellDropped);
        dropped++;
        return;
      }
      // A primary that starts a worker makes a pipe that the worker inherits a blocking one for both, and Node has no
      // documented way to take that back: https://github.com/libuv/libuv/blob/v1.x/src/unix/process.c
      if (!stdout.isTTY) handle?.setBlocking?.(false);
      stdout.write(line);
    },
    /** Calls back when all lines are written: `Logger.flush` comes here. */
    flush(done: () => void) {
      stdout.write('', () => done());
    },
  };
}

/** Logs the cause of a refusal that is a fault of ours, under its request's id; other refusals have no fault behind them. */
export function logFault(log: Logger, { cause, status, message }: ApiError, requestId: string): void {
  if (cause !== undefined && status >= 500) log.error({ err: cause, requestId }, message);
}

/**
 * Where log lines go when people read them: standard output is a terminal, and pino-pretty, a development dependency,
 * is installed. Otherwise undefined, and the lines are JSON.
 */
export async function readableOutput(): Promise<DestinationStream | undefined> {
  if (!process.stdout.isTTY) return undefined;
  const pretty = await import('pino-pretty').catch(() => undefined);
  return pretty?.default({
    ignore: 'api,operation,method,path,status,ms,requestId,keyId', // the sentence has them, or only programs read them
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    messageFormat: ({ msg, method, path, status, ms }) => {
      const text = msg === 'request' ? `${method} ${path} ${status} in ${ms} ms` : String(msg ?? '');
      return text.replaceAll(/\p{Cc}/gu, '�'); // a terminal would obey control characters
    },
  });
}
