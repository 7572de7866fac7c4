import { chmodSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterFile, temporaryFolder } from './engines.ts';

/** Where groups of processes with a limit of memory are made, and their files: of cgroup v1, or of v2. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
] as const;

/** A group of processes that may have so much memory, as a container has. */
export interface MemoryCgroup {
  /** A program that is Node within the group, with these options. */
  readonly node: string;
  /** The most that it ever had, in MB. */
  peakMb(): number;
}

/** A group with a limit, which ends after the test file; undefined where none may be made. */
export function memoryCgroup(limitMb: number, options: string): MemoryCgroup | undefined {
  const version = VERSIONS.find(({ root, limit }) => existsSync(root) && isWritable(root, limit));
  if (version === undefined) return undefined;
  const { root, limit, peak } = version;
  const group = join(root, `petstore-${process.pid}-${groups++}`);
  mkdirSync(group);
  afterFile(() => rmdirSync(group));
  writeFileSync(join(group, limit), String(limitMb * 2 ** 20));
  const node = join(temporaryFolder(), 'node');
  writeFileSync(node, `#!/bin/sh\necho $$ > ${group}/cgroup.procs\nexec ${process.execPath} ${options} "$@"\n`);
  chmodSync(node, 0o755);
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
