import { type DestinationStream, destination, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config.ts';

export type { Logger } from 'pino';

/**
 * One JSON line per event, by default on standard output. Nothing that holds a key or a body is ever handed to it.
 */
export function createLog(level: Config['logLevel'], stream: DestinationStream = bufferedOutput()) {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, stream);
}

const BUFFER_BYTES = 4096;
const FLUSH_MS = 100;

/** Under load many lines are one write, for each costs as much as a query; a process that exits writes what is left. */
function bufferedOutput(): DestinationStream {
  const output = destination({ dest: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS });
  process.on('exit', () => output.flushSync());
  return output;
}
