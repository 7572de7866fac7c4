import { setTimeout as delay } from 'node:timers/promises';
import { USAGE_FLUSH_MS } from '../deadlines.ts';
import type { Logger } from '../log.ts';
import { throttle } from '../throttle.ts';
import { type DeprecatedUse, type DeprecatedUseStore, dayNumber } from './deprecated-use.ts';
import type { KeyStore } from './key-store.ts';

/** Rows in one statement. */
const BATCH = 200;
/** Limit of buffered entries of each kind while the database is away. Further entries are dropped. */
const ENTRIES_MAX = 100_000;

/** The uses of keys and of deprecated operations. */
export type Usage = ReturnType<typeof createUsage>;

/**
 * Counts the uses of keys and of deprecated operations in memory and writes them to the database once a minute. Counts that
 * could not be written stay in memory for the next minute. They are added twice when the write was done and its answer was lost.
 */
export function createUsage(
  keys: Pick<KeyStore, 'noteLastUses'>,
  deprecatedUses: Pick<DeprecatedUseStore, 'add'>,
  log: Logger,
) {
  const lastUsedAt = new Map<string, number>();
  const deprecated = new Map<string, DeprecatedUse>();

  /** Uses may be counted during the write, so only the written part of a count is subtracted. */
  const writeAll = async (): Promise<void> => {
    for (const batch of batches(lastUsedAt)) {
      await keys.noteLastUses(new Map(batch));
      for (const [apiKeyId, moment] of batch) if (lastUsedAt.get(apiKeyId) === moment) lastUsedAt.delete(apiKeyId);
    }
    for (const batch of batches(deprecated)) {
      await deprecatedUses.add(batch.map(([, use]) => use));
      for (const [name, { uses }] of batch) {
        const now = deprecated.get(name);
        if (now === undefined || now.uses === uses) deprecated.delete(name);
        else deprecated.set(name, { ...now, uses: now.uses - uses });
      }
    }
  };

  let isLast = false;
  let failure: unknown;
  /** One write at a time, without a pause between two: the database may take longer than a minute. */
  const flush = throttle(0, async () => {
    failure = undefined;
    await writeAll().catch((error) => {
      failure = error;
      if (!isLast) log.warn({ err: error }, 'the use of API keys could not be written; trying again in a minute');
    });
  });

  const timer = setInterval(flush, USAGE_FLUSH_MS).unref();
  return {
    noteUse(apiKeyId: string): void {
      setBounded(lastUsedAt, apiKeyId, Date.now());
    },
    noteDeprecatedUse(apiKeyId: string, operation: string): void {
      const lastSeenAt = new Date();
      const day = dayNumber(lastSeenAt);
      const name = `${apiKeyId} ${operation} ${day}`;
      const uses = (deprecated.get(name)?.uses ?? 0) + 1;
      setBounded(deprecated, name, { apiKeyId, operation, day, uses, lastSeenAt });
    },
    /** Begins to write the counts in memory; `close` is next. */
    drain(): void {
      isLast = true;
      void flush();
    },
    /** Writes the counts in memory and stops. What is not written within `limitMs` is lost, which the log says. */
    async close(limitMs: number): Promise<void> {
      isLast = true;
      clearInterval(timer);
      const written = flush().then(() => failure ?? flush()); // the first may have begun before the last counts came
      await Promise.race([written, delay(limitMs, undefined, { ref: false })]);
      const lost = lastUsedAt.size + deprecated.size;
      if (lost > 0) log.warn({ err: failure, lost }, 'the last use of API keys could not be written');
    },
  };
}

function setBounded<Value>(map: Map<string, Value>, name: string, value: Value): void {
  if (map.size < ENTRIES_MAX || map.has(name)) map.set(name, value);
}

/** The present entries, in batches. */
function* batches<Value>(map: ReadonlyMap<string, Value>): Generator<[string, Value][]> {
  for (const entries = [...map]; entries.length > 0; ) yield entries.splice(0, BATCH);
}
