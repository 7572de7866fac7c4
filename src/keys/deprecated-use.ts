import type { Database } from '../database/connect.ts';

/** How often a key used something deprecated on one day. */
export interface DeprecatedUse {
  readonly apiKeyId: string;
  /** The REST operation or the GraphQL coordinate, such as `getPet` or `Query.pet`. */
  readonly operation: string;
  /** The day (UTC) as a number such as 20261120. */
  readonly day: number;
  readonly uses: number;
  readonly lastSeenAt: Date;
}

/** A line of the report: the uses of some days, added up. */
export interface DeprecatedUseSum {
  readonly keyName: string;
  readonly operation: string;
  readonly uses: number;
  readonly lastSeenAt: Date;
}

/** The counts in the database. Every function is `service_unavailable` when the database is away. */
export interface DeprecatedUseStore {
  /** Adds to what other processes have counted. */
  add(use: DeprecatedUse): Promise<void>;
  /** Who used what since a day (included), most used first. */
  sumSince(day: number): Promise<DeprecatedUseSum[]>;
}

/** A row as both engines give it. */
interface SumRow {
  name: string | null;
  operation: string;
  total: string | number;
  seen: string | number;
}

/** `date`'s day (UTC) as a number such as 20261120. */
export function dayNumber(date: Date): number {
  return (date.getUTCFullYear() * 100 + date.getUTCMonth() + 1) * 100 + date.getUTCDate();
}

/** The counts of this database. */
export function createDeprecatedUseStore({ run }: Database): DeprecatedUseStore {
  return {
    async add({ apiKeyId, operation, day, uses, lastSeenAt }) {
      const row = { api_key_id: apiKeyId, operation, day, uses, last_seen_at: lastSeenAt.getTime() };
      await run((knex) =>
        knex('deprecated_use')
          .insert(row)
          .onConflict(['api_key_id', 'operation', 'day'])
          .merge({ uses: knex.raw('deprecated_use.uses + ?', [uses]), last_seen_at: row.last_seen_at }),
      );
    },

    async sumSince(day) {
      const rows = await run((knex) =>
        knex('deprecated_use')
          .leftJoin('api_keys', 'api_keys.id', 'deprecated_use.api_key_id')
          .where('day', '>=', day)
          .groupBy('deprecated_use.api_key_id', 'api_keys.name', 'operation')
          .orderBy([{ column: 'total', order: 'desc' }, 'operation'])
          .select<SumRow[]>('api_keys.name', 'operation', knex.raw('sum(uses) as total, max(last_seen_at) as seen')),
      );
      return rows.map(({ name, operation, total, seen }) => ({
        keyName: name ?? 'unknown key',
        operation,
        uses: Number(total),
        lastSeenAt: new Date(Number(seen)),
      }));
    },
  };
}
