import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { addToEnvironment, ConfigError, settingNames } from './config.ts';

/** A name in `.env` that no setting has. */
export interface UnknownName {
  readonly name: string;
  /** The setting that was probably meant; absent when none is near, as for the names of other programs. */
  readonly meant: string | undefined;
}

/**
 * Adds the settings of a `.env` file, if there is one in the working folder, to the environment; what is set already
 * stays. Gives the names in it that no setting has. Throws ConfigError when the file cannot be read.
 */
export function loadDotEnv(): UnknownName[] {
  const settings = readDotEnv();
  addToEnvironment(settings);
  return unknownNames(Object.keys(settings));
}

function readDotEnv(): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new ConfigError(`The file .env cannot be read: ${(error as Error).message}`); // fs throws Errors
  }
}

/** The names among `names` that no setting has. */
export function unknownNames(names: readonly string[]): UnknownName[] {
  const settings = settingNames();
  return names
    .filter((name) => !settings.includes(name))
    .map((name) => ({ name, meant: settings.find((setting) => isNear(name, setting)) }));
}

/** What a person is told about a name that was probably meant as a setting. */
export function describeUnknown({ name, meant }: UnknownName): string {
  return `.env: ${name} is no setting of the gateway${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

const NAME_CHARACTERS_MAX = 64;

/** Whether `name` is `setting` in another case, or one or two typing errors away from it. */
function isNear(name: string, setting: string): boolean {
  const written = name.toUpperCase().replaceAll('-', '_');
  const allowed = setting.length < 8 ? 1 : 2;
  return written.length <= NAME_CHARACTERS_MAX && typingErrors(written, setting) <= allowed;
}

/** Letters left out, added, exchanged or swapped between two words: the optimal string alignment distance. */
function typingErrors(left: string, right: string): number {
  const rows = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(left.length, right.length);
}
