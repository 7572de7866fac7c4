import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterFile } from './engines.ts';
import { shellNode } from './process.ts';

/** Where groups of processes with a limit of memory are made, and their files: of cgroup v1, or of v2. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
] as const;

/**
 * A group of processes that may have so much memory, as a container has; it ends after the test file. `node` is Node within the
 * group, with these options, `peakMb` the most that it ever had. Undefined where none may be made.
 */
export function memoryCgroup(limitMb: number, options: string) {
  const version = VERSIONS.find(({ root, limit }) => existsSync(root) && isWritable(root, limit));
  if (version === undefined) return undefined;
  const { root, limit, peak } = version;
  const group = join(root, `petstore-${process.pid}-${groups++}`);
  mkdirSync(group);
  afterFile(() => rmdirSync(group));
  writeFileSync(join(group, limit), String(limitMb * 2 ** 20));
  const node = shellNode(`echo $$ > ${group}/cgroup.procs\nexec '${process.execPath}' ${options} "$@"`);
  return { node, peakMb: () => Math.round(Number(readFileSync(join(group, peak), 'latin1')) / 2 ** 20) };
}

let groups = 0;

function isWritable(root: string, limit: string): boolean {
  const group = join(root, `petstore-${process.pid}-tried`);
  try {
    mkdirSync(group);
    const hasLimit = existsSync(join(group, limit));
    rmdirSync(group);
    return hasLimit;
  } catch {
    return false;
  }
}
