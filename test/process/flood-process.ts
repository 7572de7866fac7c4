import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithUs } from '../support/end-with-us.ts';
import { afterFile } from '../support/engines.ts';

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
  child.once('exit', endWithUs({ pid: child.pid }));
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  afterFile(stop);
  await once(child.stdout, 'data');
  child.stdout.resume();
  return stop;
}
