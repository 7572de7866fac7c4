import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { endAfterFile, readOutput } from './child.ts';
import { temporaryFolder } from './engines.ts';

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
  /** Ends it by a signal, SIGTERM unless told otherwise, and expects a good end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
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
  const exited = endAfterFile(child);
  const errors = readOutput(child, child.stderr, exited);
  const { text, waitFor } = readOutput(child, child.stdout, exited, errors.text);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    expect(await exited).toEqual({ code: 0, signal: null });
  };
  return { child, folder, stdout: text, stderr: errors.text, waitFor, exited, stop };
}

/** A program in the place of Node that is a shell script; it ends with `exec` of the real one. */
export function shellNode(script: string): string {
  const node = join(temporaryFolder({ node: `#!/bin/sh\n${script}\n` }), 'node');
  chmodSync(node, 0o700);
  return node;
}

/** A started gateway process, its address and its port. */
export async function startProcess(
  env: Record<string, string> = {},
  folder?: string,
  node?: string,
): Promise<TestProcess & { url: string; port: number }> {
  const started = run('main.ts', [], { PORT: '0', ...env }, folder, node);
  const [, url = ''] = await started.waitFor(/listening on (http:\/\/[^"\s]+)/);
  return { ...started, url, port: Number(new URL(url).port) };
}
