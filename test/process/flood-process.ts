import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endAfterFile } from '../support/child.ts';

const FLOOD = join(import.meta.dirname, '../keys/flood.ts');

/** Kinds of floods, and on how many connections each comes. */
export const FLOODS = [
  ['unfinished bodies', 2100],
  ['lists', 200],
  ['deep pages', 200],
  ['GraphQL', 200],
  ['creates', 200],
  ['made-up keys', 200],
] as const;

/** Floods a gateway from a process of its own; gives what ends it. */
export async function startFlood(url: string, key: string, kind: string, connections: number) {
  const child = spawn(process.execPath, [FLOOD, url, key, kind, String(connections)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = endAfterFile(child);
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the flood has ended')));
  ended.catch(() => {}); // it is to be killed
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.stdout.resume();
  return async () => {
    child.kill('SIGKILL');
    await exited;
  };
}
