/** What a statement is written by: without values, and with lists of any length made one. The longest is not the first. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\(TIMESTAMPDIFF\(MICROSECOND, '1970-01-01', UTC_TIMESTAMP\(3\)\) DIV 1000\)/g, 'NOW'],
  [/`/g, ''],
  [/\s+/g, ' '],
  [/'(?:[^'\\]|\\.|'')*(?:'|$)/g, '?'], // the longest comes in pieces
  [/, ?/g, ', '],
  [/(?<![\w?!@])-?\d+\b/g, '?'],
  [/^SET SESSION .*$/, 'SET SESSION …'],
  [/(@@global\.)\w+( AS) \w+(?:, @@global\.\w+ AS \w+)*/, '$1…$2 …'],
  [/^(CREATE TABLE IF NOT EXISTS) \w+ \(.*\) ENGINE/, '$1 … (…) ENGINE'],
  [/\bNULL\b(?=[,)])/g, '?'],
  [/\bfalse\b/g, '?'],
  [/NOW \+ \?/g, 'NOW'],
  [/(?:NOW|\?)(?:, (?:NOW|\?))+/g, '?, …'],
  [/(?<=IN \(|in \()\?(?=\))/g, '?, …'],
  [/(VALUES) (\([^)]*\))(?:, \([^)]*\)?)*/, '$1 $2, …'],
  [/^(drop table if exists) \w+/, '$1 …'],
  [/ UNION ALL \(.*$/, ' UNION ALL …'],
  [/(?: WHEN \? THEN \?)+/g, ' WHEN ? THEN ? …'],
  [/;$/, ''],
];

/** A statement as the table of docs/statements.md names it: equal for all that differ in values and in their number only. */
export function normalise(sql: string): string {
  return RULES.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), sql).trim();
}
