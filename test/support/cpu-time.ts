import { readFileSync } from 'node:fs';
import { lateSince } from './stall-clock.ts';

/*
 * Times of the processor, as a usual machine takes them: another may be slower, or share its cores with others at every third turn,
 * and then each piece of work takes longer. How much so is what a known piece takes meanwhile.
 */

/** What the known piece of work takes on the machine that the limits were chosen on, in ms. */
const KNOWN_MS = 2.4;
const KNOWN_TEXT = JSON.stringify(
  Array.from({ length: 3000 }, (_, id) => ({ id, name: `Animal ${id}`, tags: ['a', id / 7] })),
);

/** A piece of work of the kinds that requests are made of: JSON is read and written, a text is searched. */
function knownWork(): number {
  return JSON.stringify(JSON.parse(KNOWN_TEXT)).length + KNOWN_TEXT.replace(/"id":(\d+)/g, '$1').length;
}

/** Other work on the machine only adds to a time, so the least of a few counts, and of more where a few are too much. */
const ROUNDS = 4;
const ROUNDS_MAX = 40;

type Work = () => unknown;

/** The CPU time of one call, in ms, of the whole process. */
async function cpuTimeOf(work: Work): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least CPU times of works that take turns, in ms: of a few rounds, and of more until `holds` says yes. */
async function leastOf(works: readonly Work[], holds: (times: readonly number[]) => boolean = () => true) {
  const least = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS || (round < ROUNDS_MAX && !holds(least)); round++)
    for (const [index, work] of works.entries()) least[index] = Math.min(least[index] ?? 0, await cpuTimeOf(work));
  return least;
}

/** What took `ms` while the known work took `knownMs`, as a usual machine takes it. A faster one is not reckoned with. */
function asUsual(ms: number, knownMs = KNOWN_MS): number {
  return ms / Math.max(1, knownMs / KNOWN_MS);
}

/** The least CPU times of works that take turns, in ms of a usual machine; there are more turns until `holds` says yes. */
export async function leastCpuTimes(
  works: readonly Work[],
  holds: (times: readonly number[]) => boolean = () => true,
): Promise<readonly number[]> {
  const convert = ([known, ...times]: readonly number[]) => times.map((ms) => asUsual(ms, known));
  return convert(await leastOf([knownWork, ...works], (least) => holds(convert(least))));
}

/**
 * The CPU time of the first thread of a process so far, in ms: proc_pid_schedstat(5). It runs what holds the process; the collection of
 * garbage has threads of its own.
 */
function firstThreadCpuMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}

/**
 * The CPU time of the first thread of a process while `work` runs, in ms of a usual machine, without that in which this process was held
 * up: in so long one thread cannot have used more, and it did other work than what is measured.
 */
export async function heldBy(pid: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const before = firstThreadCpuMs(pid);
  await work();
  const ms = firstThreadCpuMs(pid) - before - lateSince(startedAt);
  if (ms < 10 * KNOWN_MS) return Math.max(0, ms); // nobody minds so little, on any machine
  const [known] = await leastOf([knownWork]);
  return asUsual(ms, known);
}
