import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { endWithUs } from './end-with-us.ts';
import { afterFile } from './engines.ts';

/** Kills a child after the test file at the latest, or when this process ends; gives what waits for its end. */
export function endAfterFile(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  child.once('exit', endWithUs({ pid: child.pid }));
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  afterFile(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return exited;
}

/** What a child writes on a stream, and a way to wait for the first match in it, which rejects when the child ends before. */
export function readOutput(child: ChildProcess, stream: Readable, exited: Promise<unknown>, more = () => '') {
  let text = '';
  stream.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  const waitFor = async (pattern: RegExp): Promise<RegExpMatchArray> => {
    for (;;) {
      const match = text.match(pattern);
      if (match) return match;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended: ${text}${more()}`);
      await Promise.race([once(stream, 'data'), exited]);
    }
  };
  return { text: () => text, waitFor };
}
