import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ConfigError, readConfig } from '../../src/gateway/config.ts';
import { ROOT, tracked } from '../support/tracked-files.ts';

/**
 * A constant that only its own file knows, `NAME = 1` or `name: 1`, by the file's name: an export that nobody but a document
 * needs would be none of the code's business.
 */
export function constantIn(file: string, name: string): number {
  const path = tracked.find((tracked) => tracked.startsWith('src/') && basename(tracked) === file);
  if (path === undefined) throw new Error(`there is no ${file} in src`);
  const [, value] =
    new RegExp(`\\b${name}\\s*[=:]\\s*'?(\\d[\\d_.*\\s]*)`).exec(readFileSync(join(ROOT, path), 'utf8')) ?? [];
  if (value === undefined) throw new Error(`${path} has no number ${name}`);
  return value.split(/\*(?!\*)(?<!\*\*)/).reduce((product, factor) => product * powerOf(factor), 1);
}

const powerOf = (text: string): number => {
  const [base = '', exponent = '1'] = text.replaceAll(/[_\s]/g, '').split('**');
  return Number(base) ** Number(exponent);
};

/** What a whole number of the configuration may be, by the refusal of another one: least and most. */
export function boundsOf(name: string): readonly string[] {
  try {
    readConfig({ [name]: 'x' });
  } catch (error) {
    if (error instanceof ConfigError) return /from (\d+) to (\d+)/.exec(error.message)?.slice(1) ?? [];
    throw error;
  }
  return [];
}
