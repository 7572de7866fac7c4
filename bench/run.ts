import { startDatabase, useServer } from './database.ts';
import { measureAll } from './measure.ts';
import { readOptions, START } from './options.ts';
import { installComparisons, leaveFirstCore } from './processes.ts';
import { countWrong, toMarkdown } from './report.ts';
import { madeBy, writeReport } from './report-file.ts';
import { measureStarts } from './startup.ts';

const options = readOptions(process.argv.slice(2));
installComparisons();
if (!options.unpinned) leaveFirstCore();
const startTimes = options.workloads.includes(START) ? await measureStarts(options.starts, note) : undefined;
const database = options.url === undefined ? await startDatabase() : await useServer(options.url);
const measurements = await measureAll(options, database, note);
await database.close();
const head = madeBy(`${database.version}, 100,000 animals, 10 connections to the database each`);
writeReport('RESULTS.md', toMarkdown({ options, head, measurements, startTimes }), options.isFull);
process.exitCode = countWrong(measurements) > 0 ? 1 : 0;

/** Progress goes to standard error: standard output is the report alone. */
function note(line: string): void {
  console.error(line);
}
