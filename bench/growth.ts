/*
 * What a list costs as the store grows: node bench/growth.ts writes GROWTH.md. One gateway for each
 * size and engine, all at once; each kind of page is asked of one after the other, round by round, on one connection.
 */
import { readFlags } from './call.ts';
import { startDatabase } from './database.ts';
import { leaveFirstCore } from './processes.ts';
import { madeBy, writeReport } from './report-file.ts';
import { createMysqlDatabase, createSqliteFile, measureStores, openStore, PAGES, type Store } from './stores.ts';

const SIZES = [1000, 10_000, 100_000, 1_000_000] as const;
const ROUNDS = 5;
const SECONDS = 1;

readFlags({});
leaveFirstCore();
const database = await startDatabase();
const stores: Store[] = [];
for (const animals of SIZES) {
  const mariadb = await createMysqlDatabase(database.url, `growth_${animals}`);
  stores.push(await openStore('MariaDB', animals, mariadb));
  stores.push(await openStore('SQLite', animals, createSqliteFile()));
}
const p50Of = await measureStores(stores, ROUNDS, SECONDS);
writeReport('GROWTH.md', toMarkdown(), true);
process.exit(0);

function toMarkdown(): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = ['MariaDB', 'SQLite'].flatMap((engine) =>
    PAGES.map((page) => {
      const figures = SIZES.map((animals) => p50Of({ engine, animals }, page));
      const growth = (figures.at(-1) ?? Number.NaN) / (figures[0] ?? Number.NaN);
      return line([engine, page.title, ...figures.map((ms) => ms.toFixed(2)), growth.toFixed(2)]);
    }),
  );
  const head = ['engine', 'list 20', ...SIZES.map((animals) => animals.toLocaleString('en')), 'last : first'];
  return [
    '# What a list costs as the store grows',
    madeBy(`${database.version}, SQLite ${process.versions.sqlite}`),
    `p50 in ms over REST, on one connection, by number of animals; medians of ${ROUNDS} alternating rounds.`,
    [line(head), line(head.map(() => '---')), ...rows].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}
