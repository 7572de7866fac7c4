import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { throttle } from '../caches.ts';
import type { Database } from '../database/connect.ts';
import { USAGE_FLUSH_MS } from '../deadlines.ts';
import type { Logger } from '../log.ts';
import type { KeyStore } from './key-store.ts';

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
  deprecatedUses: Pick<ReturnType<typeof createDeprecatedUseStore>, 'add'>,
  log: Logger,
) {
  const lastUsedAt = new Map<string, number>();
  const deprecated = new Map<string, DeprecatedUse>();

  /** Uses may be counted during the write, so only the written part of a count is subtracted. */
  const writeAll = async (): Promise<void> => {
    for (const batch of batches(lastUsedAt)) {
      await keys.noteLastUses(new Map(batch));
      for (const [apiKeyId, moment] of batch) if (lastUsedAt.get(apiKeyId) === moment) lastUsedAt.delete(apiKeyId);
      await nextTurn(); // SQLite never waits for I/O here: without a pause, no request would be served
    }
    for (const batch of batches(deprecated)) {
      await deprecatedUses.add(batch.map(([, use]) => use));
      for (const [name, { uses }] of batch) {
        const now = deprecated.get(name);
        if (now === undefined || now.uses === uses) deprecated.delete(name);
        else deprecated.set(name, { ...now, uses: now.uses - uses });
      }
      await nextTurn(); // as above
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

function* batches<Value>(map: ReadonlyMap<string, Value>): Generator<[string, Value][]> {
  for (const entries = [...map]; entries.length > 0; ) yield entries.splice(0, BATCH);
}

/** The uses of one deprecated operation by one key on one day. */
export interface DeprecatedUse {
  readonly apiKeyId: string;
  /** The REST operation or the GraphQL coordinate, such as `getBook` or `Query.book`. */
  readonly operation: string;
  readonly day: number;
  readonly uses: number;
  readonly lastSeenAt: Date;
}

/** The day of a date (UTC) as a number such as 20261120. */
export function dayNumber(date: Date): number {
  return (date.getUTCFullYear() * 100 + date.getUTCMonth() + 1) * 100 + date.getUTCDate();
}

// Adds to an existing count; `last_seen_at` never goes back.
const ADD = {
  sqlite: `ON CONFLICT (api_key_id, operation, day) DO UPDATE SET
    uses = uses + excluded.uses, last_seen_at = max(last_seen_at, excluded.last_seen_at)`,
  // VALUES() instead of an alias, which MariaDB does not have.
  mysql: `ON DUPLICATE KEY UPDATE
    uses = uses + VALUES(uses), last_seen_at = GREATEST(last_seen_at, VALUES(last_seen_at))`,
} as const;

/** The counts of deprecated use. All functions: DatabaseFault `unavailable` when the database is away. */
export function createDeprecatedUseStore({ run, engine }: Database) {
  return {
    /** Adds counts, at most some hundred, to those of other processes. */
    async add(uses: readonly DeprecatedUse[]): Promise<void> {
      // All processes lock rows in the same order, so that they do not deadlock.
      const rows = uses
        .map(({ apiKeyId, operation, day, uses, lastSeenAt }) => [apiKeyId, operation, day, uses, lastSeenAt.getTime()])
        .sort();
      const marks = rows.map(() => '(?, ?, ?, ?, ?)').join(', ');
      const into = `INSERT INTO deprecated_use (api_key_id, operation, day, uses, last_seen_at) VALUES ${marks}`;
      await run((knex) => knex.raw(`${into} ${ADD[engine]}`, rows.flat()));
    },

    /** The uses by name of key and operation since a day (included), most used first. */
    async sumSince(day: number) {
      const rows = await run((knex) =>
        knex('deprecated_use')
          .leftJoin('api_keys', 'api_keys.id', 'deprecated_use.api_key_id')
          .where('day', '>=', day)
          .groupBy('deprecated_use.api_key_id', 'api_keys.name', 'operation')
          .orderBy([{ column: 'total', order: 'desc' }, 'operation'])
          .select('api_keys.name', 'operation', knex.raw('sum(uses) as total, max(last_seen_at) as seen')),
      );
      return rows.map(({ name, operation, total, seen }) => ({
        key: name ?? 'unknown key',
        operation,
        count: Number(total),
        lastSeen: new Date(Number(seen)).toISOString(),
      }));
    },
  };
}
