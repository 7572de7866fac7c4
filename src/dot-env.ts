import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { addToEnvironment, ConfigError, settingNames } from './config.ts';
import { typingErrors } from './typing-errors.ts';

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
