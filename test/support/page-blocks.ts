import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { endWithUs } from './end-with-us.ts';
import { afterFile, temporaryFolder } from './engines.ts';
import { ROOT } from './tracked-files.ts';

/** What a block printed, and how it ended. */
export interface BlockEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The text of the block of a page whose fence says so, such as `bash mysql-backup`. Throws when there is none. */
export function readBlock(page: string, fence: string): string {
  const blocks = readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(.+)\n([\s\S]*?)^```$/gm);
  const found = [...blocks].find(([, says]) => says === fence)?.[2];
  if (found === undefined) throw new Error(`${page} has no block ${fence}`);
  return found;
}

/** Runs a block as an operator does who pastes it into a shell in `folder`; `node` is ours. */
export async function runBlock(block: string, folder: string, env: Record<string, string> = {}): Promise<BlockEnd> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('bash', ['-c', block], {
    cwd: folder,
    env: { HOME, LC_ALL: 'C', TMPDIR: temporaryFolder(), PATH: `${dirname(process.execPath)}:${PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own: what it leaves behind ends with the test file
  });
  child.once('exit', endWithUs({ pid: child.pid }));
  afterFile(() => endGroup(child.pid));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, stdout, stderr };
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {} // nothing was left behind
}
