import { readFileSync } from 'node:fs';
import { lateSince } from './stall-clock.ts';

/** Other work on the machine only adds to a time, so the least of a few counts, and of more where a few are too much. */
const ROUNDS = 4;
const ROUNDS_MAX = 40;

/** The CPU time of one call, in ms, of the whole process. */
async function cpuTimeOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least CPU times of works that take turns, in ms: of a few rounds, and of more until `holds` says yes. */
export async function leastCpuTimes(
  works: readonly (() => unknown)[],
  holds: (times: readonly number[]) => boolean = () => true,
): Promise<readonly number[]> {
  const least = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS || (round < ROUNDS_MAX && !holds(least)); round++)
    for (const [index, work] of works.entries()) least[index] = Math.min(least[index] ?? 0, await cpuTimeOf(work));
  return least;
}

/**
 * The CPU time of the first thread of a process so far, in ms: proc_pid_schedstat(5). It runs what holds the process; the collection of
 * garbage has threads of its own.
 */
function firstThreadCpuMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}

/**
 * The CPU time of the first thread of a process while `work` runs, in ms, without that in which this process was held up: in so long
 * one thread cannot have used more, and it did other work than what is measured.
 */
export async function heldBy(pid: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const before = firstThreadCpuMs(pid);
  await work();
  return Math.max(0, firstThreadCpuMs(pid) - before - lateSince(startedAt));
}
