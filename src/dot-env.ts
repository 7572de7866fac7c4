import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, settingNames } from './config.ts';
import { typingErrors } from './typing-errors.ts';

/** A name in `.env` that no setting has; `meant` is the setting of almost the same name, if there is one. */
export interface UnknownName {
  readonly name: string;
  readonly meant: string | undefined;
}

/**
 * Adds the settings of a `.env` file, if there is one in the working folder, to the environment; what is set already
 * stays. Gives the names in it that no setting has. Throws ConfigError when the file cannot be read.
 */
export function loadDotEnv(): UnknownName[] {
  try {
    const names = Object.keys(parseEnv(readFileSync('.env', 'utf8')));
    process.loadEnvFile('.env');
    return unknownNames(names);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new ConfigError(`The file .env cannot be read: ${(error as Error).message}`); // fs throws Errors
  }
}

const NAME_CHARACTERS_MAX = 64;

/** The names among `names` that no setting has. */
export function unknownNames(names: readonly string[]): UnknownName[] {
  const settings = settingNames();
  const isNear = (name: string, setting: string) => typingErrors(name, setting) <= (setting.length < 8 ? 1 : 2);
  return names
    .filter((name) => !settings.includes(name))
    .map((name) => {
      const written = name.slice(0, NAME_CHARACTERS_MAX).toUpperCase().replaceAll('-', '_');
      return { name, meant: settings.find((setting) => isNear(written, setting)) };
    });
}

/** What a person is told about a name that was probably meant as a setting. */
export function describeUnknown({ name, meant }: UnknownName): string {
  return `.env: ${name} is no setting of the gateway${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}
