import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, settingNames } from './config.ts';
import { editDistance } from './edit-distance.ts';

/** A name that is no setting. `meant` is a setting whose name differs by one or two typing errors. */
export interface UnknownName {
  readonly place: '.env' | 'environment';
  readonly name: string;
  readonly meant: string | undefined;
}

/**
 * Adds the settings of the file `.env`, if the working folder has one, to `environment`. Variables that are set already
 * stay. Gives the names in the file that are no settings, and those in `environment` that are close to one. Throws ConfigError
 * when the file cannot be read, sets a setting without an equals sign, as YAML does, or cuts its value at a `#`.
 */
export function loadDotEnv(environment: NodeJS.Dict<string>): UnknownName[] {
  const text = readDotEnv();
  // parseEnv drops such a line without a word.
  const setting = `^[ \\t]*(?:export +)?(${settingNames().join('|')})`;
  const [, name] = new RegExp(`${setting}(?![\\w.-]|[ \\t]*=)`, 'm').exec(text) ?? [];
  if (name !== undefined) throw new ConfigError(`The file .env has ${name} without an equals sign: write ${name}=…`);
  // To parseEnv it begins a comment, also within a word.
  const [, cut] = new RegExp(`${setting}[ \\t]*=(?![ \\t]*["'\`])[^\\n#]*[^\\s#=]#`, 'm').exec(text) ?? [];
  if (cut !== undefined) throw new ConfigError(`The file .env has ${cut} with a # that cuts it: write ${cut}='…'`);
  const near = unknownNames(Object.keys(environment), 'environment').filter(({ meant }) => meant !== undefined);
  const variables = parseEnv(text);
  for (const [variable, value] of Object.entries(variables)) environment[variable] ??= value;
  return [...near, ...unknownNames(Object.keys(variables), '.env')];
}

/** The text of the file, without a byte order mark, which some editors write; empty without a file. */
function readDotEnv(): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync('.env'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    // fs and TextDecoder throw only Errors
    throw new ConfigError(`The file .env must be text in UTF-8 that can be read: ${(error as Error).message}`);
  }
}

const NAME_CHARACTERS_MAX = 64;

/** Those of `names` that are no settings. */
export function unknownNames(names: readonly string[], place: UnknownName['place']): UnknownName[] {
  const settings = settingNames();
  const isNear = (name: string, setting: string) =>
    Math.abs(name.length - setting.length) <= 2 && editDistance(name, setting) <= (setting.length < 8 ? 1 : 2);
  return names
    .filter((name) => !settings.includes(name))
    .map((name) => {
      const written = name.slice(0, NAME_CHARACTERS_MAX).toUpperCase().replaceAll('-', '_');
      return { place, name, meant: settings.find((setting) => isNear(written, setting)) };
    });
}

/** The sentence about an unknown name, for `doctor` and the log. */
export function describeUnknown({ place, name, meant }: UnknownName): string {
  return `${place}: ${name} is no setting of the gateway${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}
