import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { endAfterFile, readOutput } from './child.ts';

/** Runs a shell command on a terminal of `columns`, by `script` of util-linux; what still runs ends after the test file. */
export function onTerminal(command: string, columns: number, env: Record<string, string>, folder: string) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const words = ['--quiet', '--return', '--flush', '--command', `stty cols ${columns}; exec ${command}`, '/dev/null'];
  const child = spawn('script', words, {
    cwd: folder,
    env: { PATH, HOME, NODE_COMPILE_CACHE, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = endAfterFile(child);
  const { text, waitFor } = readOutput(child, child.stdout, exited);
  /** Sends the program Ctrl+C and waits for its end. */
  const interrupt = async () => {
    child.stdin.write('\u0003');
    await exited;
  };
  return { /** All that the terminal was sent so far. */ shown: text, waitFor, interrupt, exited };
}

/** What stays on the screen of each line that was redrawn from its begin, without colours. */
export function screenLines(shown: string): string[] {
  return stripVTControlCharacters(shown)
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '');
}
