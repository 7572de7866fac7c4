import { spawn } from 'node:child_process';

/**
 * Kills a process and removes a folder when this process ends, in whatever way (SIGKILL too): a shell waits for the end
 * of its input, which only the end of this process brings. Gives the function that calls it off.
 */
export function endWithUs({ pid, folder }: { pid?: number | undefined; folder?: string }): () => void {
  const script = 'read -r _; [ -z "$1" ] || kill -9 "$1"; [ -z "$2" ] || rm -rf "$2"';
  const guard = spawn('/bin/sh', ['-c', script, 'guard', String(pid ?? ''), folder ?? ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Ctrl-C is for the tests, not for their guard
  });
  guard.unref();
  return () => guard.kill('SIGKILL');
}
