import type { Engine } from './connect.ts';

/**
 * SQL for the database's own clock, in ms since 1970. What must be older or younger than something is told by it: the clocks
 * of gateways may differ.
 */
export const NOW_MS: Readonly<Record<Engine, string>> = {
  // Of UTC: local time has an hour twice a year, https://dev.mysql.com/doc/refman/9.7/en/date-and-time-functions.html
  mysql: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
};
