import { expect } from 'vitest';
import { ANSWERS_WITHIN_MS } from '../support/prepared.ts';
import { run } from '../support/process.ts';
import { msSince } from '../support/stall-clock.ts';

/** What a command left behind when it ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine that is held up may have no connection in its 2.5 s. It may be of any statement, too, which is done all the same. */
const NO_ANSWER = /does not answer: no answer in time/;
/** Whether a command changes nothing, or the same whether it runs once or twice. */
const isRepeatable = (name: string, args: readonly string[]): boolean =>
  name !== 'seed' && !args.some((arg) => ['create', 'rotate', 'revoke', '--rollback'].includes(arg));

/**
 * Runs a command, such as `keys`, as a process of its own, in `folder` or a new temporary one, until it ends. What may be
 * repeated is run again while the database gives no answer in time, because commands do not wait.
 */
export async function command(
  name: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
  folder?: string,
  node?: string,
): Promise<Ended> {
  for (const startedAt = performance.now(); ; ) {
    const started = run(`cli/${name}.ts`, args, env, folder, node);
    const { code } = await started.exited;
    const ended = { code, stdout: started.stdout(), stderr: started.stderr() };
    const isLate = NO_ANSWER.test(ended.stdout + ended.stderr) && isRepeatable(name, args);
    if (!isLate || msSince(startedAt) > ANSWERS_WITHIN_MS) return ended;
  }
}

/** A command that does its work; gives the lines of its standard output. */
export async function succeed(...call: Parameters<typeof command>): Promise<string[]> {
  const { code, stdout, stderr } = await command(...call);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout.trimEnd().split('\n');
}

/** A command that prints JSON; gives what it tells. */
export async function succeedJson(...call: Parameters<typeof command>): Promise<any> {
  return JSON.parse((await succeed(...call)).join('\n'));
}

/** A failure as a person sees it: the exit code, one line on standard error, and no trace of the program. */
export function expectFailure({ code, stderr }: Ended, expected: number, line: string | RegExp): void {
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr.trimEnd()).toMatch(line);
  expect(stderr).not.toMatch(/\bat \S+:\d+|node:internal|Error:/);
  expect(code).toBe(expected);
}
