import { type DestinationStream, destination, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config.ts';

export type { Logger } from 'pino';

/**
 * One JSON line per event, by default on standard output. Nothing that holds a key or a body is ever handed to it.
 */
export function createLog(level: Config['logLevel'], stream: DestinationStream = bufferedOutput()) {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, stream);
}

const BATCH_CHARACTERS = 16_000;
const FLUSH_MS = 100;

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
