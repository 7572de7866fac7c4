import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/tracked-files.ts';

/** Runs the first block of code in the README of a library, within its folder; gives the README and what the code printed. */
export async function runReadme(library: string, change = (code: string) => code) {
  const cwd = join(ROOT, 'src/lib', library);
  const readme = readFileSync(join(cwd, 'README.md'), 'utf8');
  const [, code = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const args = ['--input-type=module-typescript', '--eval', change(code)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  return { readme, stdout };
}
