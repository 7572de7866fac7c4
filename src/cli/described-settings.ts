import { type Config, givenSetting, settingNames } from '../config.ts';

/** A setting as `doctor` shows it: nothing in it is secret. */
export interface Setting {
  readonly name: string;
  /** Undefined when it is not set and has no default. */
  readonly value: string | undefined;
  readonly isDefault: boolean;
}

/** All settings, as they were given or by their defaults. */
export function describeSettings(config: Config): Setting[] {
  return settingNames().map((name) => {
    const given = givenSetting(name);
    return { name, value: given ?? defaultOf(config, name), isDefault: given === undefined };
  });
}

/** The field of a setting is its name in camel case, with its unit where it has one: BODY_LIMIT is bodyLimitBytes. */
function defaultOf(config: Config, name: string): string | undefined {
  const field = name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const [, value] = Object.entries(config).find(([key]) => key.startsWith(field)) ?? [];
  return value === undefined ? WORDS_FOR_NONE[name] : String(value);
}

/** What stands for the absence of a value, where a setting has a word for it. */
const WORDS_FOR_NONE: Readonly<Record<string, string | undefined>> = { RATE_LIMIT: 'off' };
