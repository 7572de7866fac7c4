import { settingNames } from '../src/gateway/config.ts';

const SETTINGS = settingNames();

/** `environment` without the settings of the gateway and of Node: a developer's own must not change what is measured. */
export function withoutSettings(environment: NodeJS.Dict<string>): NodeJS.Dict<string> {
  const isKept = (name: string) => !SETTINGS.includes(name) && !name.startsWith('NODE_');
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isKept(name)));
}

/**
 * The environment of the gateway and its commands: each setting that is not in `settings` is empty, which means its default,
 * whatever the checkout's `.env` says.
 */
export function gatewayEnvironment(settings: Readonly<Record<string, string>>): NodeJS.Dict<string> {
  return { ...withoutSettings(process.env), ...Object.fromEntries(SETTINGS.map((name) => [name, ''])), ...settings };
}
