import type { Database } from '../database/connect.ts';

/** The uses of one deprecated operation by one key on one day. */
export interface DeprecatedUse {
  readonly apiKeyId: string;
  /** The REST operation or the GraphQL coordinate, such as `getBook` or `Query.book`. */
  readonly operation: string;
  /** See `dayNumber`. */
  readonly day: number;
  readonly uses: number;
  readonly lastSeenAt: Date;
}

/** The counts of deprecated use in the database. */
export type DeprecatedUseStore = ReturnType<typeof createDeprecatedUseStore>;

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

    /** The uses by key and operation since a day (included), most used first. */
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
        keyName: name ?? 'unknown key',
        operation,
        uses: Number(total),
        lastSeenAt: new Date(Number(seen)),
      }));
    },
  };
}
