import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/ports.ts';

/** Prints the port that a process is given which draws `first` before any other. */
const drawing = (first: number) => `
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
const { randomInt } = crypto;
const draws = [${first}];
crypto.randomInt = (...range) => draws.pop() ?? randomInt(...range);
syncBuiltinESMExports();
const { freePort } = await import(process.argv[1]);
console.log(draws.length, await freePort(), draws.length);`;

test.runIf(process.platform === 'linux')('a port is given to one process alone, before it listens on it', async () => {
  const port = await freePort();
  const ports = join(import.meta.dirname, '../support/ports.ts');
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', drawing(port), ports], {
    encoding: 'utf8',
  });
  expect(printed).toMatch(/^1 \d+ 0\n$/);
  expect(printed).not.toBe(`1 ${port} 0\n`);
});
