import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithUs } from './end-with-us.ts';
import { afterFile, temporaryFolder } from './engines.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A program of ours as a process of its own. */
export interface TestProcess {
  readonly child: ChildProcess;
  readonly folder: string;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first match in the standard output; rejects when the process ends before. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Runs a file of `src`, such as `cli/keys.ts`, in a temporary folder; what still runs ends after the test file. */
export function run(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
  folder = temporaryFolder(),
  node = process.execPath,
): TestProcess {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(node, [join(ROOT, 'src', file), ...args], {
    cwd: folder,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.once('exit', endWithUs({ pid: child.pid }));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  afterFile(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const waitFor = async (pattern: RegExp): Promise<RegExpMatchArray> => {
    for (;;) {
      const match = stdout.match(pattern);
      if (match) return match;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended: ${stdout}${stderr}`);
      await Promise.race([once(child.stdout, 'data'), exited]);
    }
  };
  return { child, folder, stdout: () => stdout, stderr: () => stderr, waitFor, exited };
}

/** A started gateway process and its address. */
export async function startProcess(
  env: Record<string, string> = {},
  folder?: string,
  node?: string,
): Promise<TestProcess & { url: string }> {
  const started = run('main.ts', [], { PORT: '0', ...env }, folder, node);
  const [, url = ''] = await started.waitFor(/listening on (http:\/\/[^"\s]+)/);
  return { ...started, url };
}
