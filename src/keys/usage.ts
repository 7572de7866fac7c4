import { setTimeout as delay } from 'node:timers/promises';
import { LAST_COUNTS_MS, USAGE_FLUSH_MS } from '../deadlines.ts';
import type { Logger } from '../log.ts';
import { type DeprecatedUse, type DeprecatedUseStore, dayNumber } from './deprecated-use.ts';
import type { KeyStore } from './key-store.ts';

/** Rows of one statement. */
const BATCH = 200;
/** What is kept while the database is away: keys used, and counts of deprecated use; what is new beyond that is lost. */
const KEPT_MAX = 100_000;

/** Counts in memory who uses what; the database hears of it once a minute, never in a request's way. */
export interface Usage {
  noteUse(apiKeyId: string): void;
  /** `operation` is the REST operation or the GraphQL coordinate. */
  noteDeprecatedUse(apiKeyId: string, operation: string): void;
  /** Writes what is still in memory, for three seconds at most, then stops. */
  close(): Promise<void>;
}

/** Starts counting. What could not be written is kept, and tried again a minute later. */
export function createUsage(
  keys: Pick<KeyStore, 'noteLastUses'>,
  deprecatedUses: Pick<DeprecatedUseStore, 'add'>,
  log: Logger,
): Usage {
  let lastUsedAt = new Map<string, number>();
  let deprecated = new Map<string, DeprecatedUse>();
  let flushing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    const [used, counted] = [lastUsedAt, deprecated]; // what comes during the write goes into new maps
    [lastUsedAt, deprecated] = [new Map(), new Map()];
    try {
      await writeBatches(used, (batch) => keys.noteLastUses(new Map(batch)));
      await writeBatches(counted, (batch) => deprecatedUses.add(batch.map(([, use]) => use)));
    } catch (error) {
      log.warn({ err: error }, 'the use of API keys could not be written; trying again in a minute');
    }
    // Mostly empty by now.
    for (const [apiKeyId, moment] of used) keep(lastUsedAt, apiKeyId, lastUsedAt.get(apiKeyId) ?? moment);
    for (const [name, use] of counted) keep(deprecated, name, addUses(use, deprecated.get(name)));
  };

  /** One at a time: the database may take longer than a minute. */
  const flush = (): Promise<void> => {
    flushing ??= writeAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };

  const timer = setInterval(flush, USAGE_FLUSH_MS);
  timer.unref();
  return {
    noteUse(apiKeyId) {
      keep(lastUsedAt, apiKeyId, Date.now());
    },
    noteDeprecatedUse(apiKeyId, operation) {
      const lastSeenAt = new Date();
      const day = dayNumber(lastSeenAt);
      const name = `${apiKeyId} ${operation} ${day}`;
      keep(deprecated, name, addUses({ apiKeyId, operation, day, uses: 1, lastSeenAt }, deprecated.get(name)));
    },
    async close() {
      clearInterval(timer);
      const written = (flushing ?? Promise.resolve()).then(flush);
      await Promise.race([written, delay(LAST_COUNTS_MS, undefined, { ref: false })]);
    },
  };
}

function keep<Value>(map: Map<string, Value>, name: string, value: Value): void {
  if (map.size < KEPT_MAX || map.has(name)) map.set(name, value);
}

function addUses(use: DeprecatedUse, other: DeprecatedUse | undefined): DeprecatedUse {
  if (other === undefined) return use;
  const lastSeenAt = new Date(Math.max(use.lastSeenAt.getTime(), other.lastSeenAt.getTime()));
  return { ...use, uses: use.uses + other.uses, lastSeenAt };
}

/** Writes the entries, some hundred at a time, and takes away what is written. */
async function writeBatches<Value>(
  map: Map<string, Value>,
  write: (batch: [string, Value][]) => Promise<void>,
): Promise<void> {
  while (map.size > 0) {
    const batch = [...map.entries().take(BATCH)];
    await write(batch);
    for (const [name] of batch) map.delete(name);
  }
}
