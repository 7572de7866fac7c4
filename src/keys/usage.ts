import type { Logger } from '../log.ts';
import { type DeprecatedUse, type DeprecatedUseStore, dayNumber } from './deprecated-use.ts';
import type { KeyStore } from './key-store.ts';

const FLUSH_MS = 60_000;

/** Counts in memory who uses what; the database hears of it once a minute, never in a request's way. */
export interface Usage {
  noteUse(apiKeyId: string): void;
  /** `operation` is the REST operation or the GraphQL coordinate. */
  noteDeprecatedUse(apiKeyId: string, operation: string): void;
  /** Writes what is still in memory, then stops. */
  close(): Promise<void>;
}

/** Starts counting. What could not be written is kept, and tried again a minute later. */
export function createUsage(keys: KeyStore, deprecatedUses: DeprecatedUseStore, log: Logger): Usage {
  const lastUsedAt = new Map<string, Date>();
  const deprecated = new Map<string, DeprecatedUse>();

  const flush = async (): Promise<void> => {
    try {
      for (const [apiKeyId, moment] of lastUsedAt) {
        await keys.noteLastUse(apiKeyId, moment);
        if (lastUsedAt.get(apiKeyId) === moment) lastUsedAt.delete(apiKeyId);
      }
      for (const [name, use] of deprecated) {
        deprecated.delete(name); // what is counted during the write begins anew
        await deprecatedUses.add(use).catch((error) => {
          const later = deprecated.get(name);
          deprecated.set(name, { ...use, ...later, uses: use.uses + (later?.uses ?? 0) });
          throw error;
        });
      }
    } catch (error) {
      log.warn({ err: error }, 'the use of API keys could not be written; trying again in a minute');
    }
  };

  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    noteUse(apiKeyId) {
      lastUsedAt.set(apiKeyId, new Date());
    },
    noteDeprecatedUse(apiKeyId, operation) {
      const lastSeenAt = new Date();
      const day = dayNumber(lastSeenAt);
      const name = `${apiKeyId} ${operation} ${day}`;
      const uses = (deprecated.get(name)?.uses ?? 0) + 1;
      deprecated.set(name, { apiKeyId, operation, day, uses, lastSeenAt });
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
