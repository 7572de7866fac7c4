// Reads the reports of test runs, `FOLDER/NAME.json`, and those of what ran again, `FOLDER/NAME-again.json`; beside each,
// `NAME.unhandled` has what no test caught.
//   results.mjs failed FOLDER NAME    the files of a run that failed, a line each
//   results.mjs print FOLDER NAME…    tells what failed, and counts; exits with 1 where anything failed in both runs, or outside of tests
import { existsSync, readFileSync } from 'node:fs';

const [command, folder, ...names] = process.argv.slice(2);

const reportOf = (name) => {
  const file = `${folder}/${name}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
};
const isFailed = ({ status, message }) => status === 'failed' || Boolean(message);
const failedFiles = (report) => (report?.testResults ?? []).filter(isFailed);

function fail(text) {
  console.log(`FAILED${text}`);
  process.exitCode = 1;
}

function printFile({ name, status, message, assertionResults }, say) {
  const tests = assertionResults.filter((test) => test.status === 'failed');
  // A hook that fails has no test, and may have no message.
  if (message || (status === 'failed' && tests.length === 0)) say(` ${name}\n${message}`);
  for (const { fullName, failureMessages } of tests) say(` ${name}: ${fullName}\n${failureMessages.join('\n')}`);
}

function printRun(name) {
  const report = reportOf(name);
  if (!report) {
    fail(`: no report of ${name}`);
    return [];
  }
  // Its tests are chosen by their names.
  if (name === 'mysql' && report.numPassedTests < 500) fail(`: only ${report.numPassedTests} tests of mysql passed`);
  const failed = failedFiles(report);
  if (!report.success && failed.length === 0) fail(`: ${name}, and no test did`);
  for (const run of [name, `${name}-again`]) {
    const file = `${folder}/${run}.unhandled`;
    if (existsSync(file)) fail(`: ${run}, by an error that no test caught\n${readFileSync(file, 'utf8').trimEnd()}`);
  }
  const again = reportOf(`${name}-again`);
  const passed = (file) => again?.testResults.some((other) => other.name === file.name && !isFailed(other));
  for (const file of failed)
    printFile(
      file,
      passed(file) ? (text) => console.log(`!!! FAILED ONCE, and passed when it ran alone:${text}`) : fail,
    );
  return [report];
}

if (command === 'failed') {
  for (const { name } of names.flatMap((name) => failedFiles(reportOf(name)))) console.log(name);
} else {
  const reports = names.flatMap(printRun);
  const sum = (field) => reports.reduce((total, report) => total + report[field], 0);
  console.log(`${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed`);
}
