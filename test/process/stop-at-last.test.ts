import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/engines.ts';
import { run } from '../support/process.ts';

const SOURCE = join(import.meta.dirname, '../../src');

/** A program whose end is never reached; what it does when it is ready stands in `then`. */
function startEndless(then: string) {
  const file = join(temporaryFolder(), 'endless.ts');
  writeFileSync(
    file,
    `import { createLog } from '${SOURCE}/log.ts';
import { stopGracefully } from '${SOURCE}/process/stop.ts';
setInterval(() => {}, 1000);
stopGracefully(() => new Promise(() => {}), 0, createLog('info'));
${then}`,
  );
  return run(relative(SOURCE, file));
}

test.each([
  ['a signal', "process.kill(process.pid, 'SIGTERM');", 0],
  ['a fault that nothing caught', "throw new Error('on purpose');", 1],
])('a stop after %s that never comes to its end is over after the grace all the same', async (_what, then, code) => {
  const { exited, stdout } = startEndless(then);
  expect(await exited).toEqual({ code, signal: null });
  expect(stdout()).toMatch(/stopping"}\n$/);
});
