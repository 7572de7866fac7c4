import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseNetworks, parseOrigins, parsePublicUrl } from './address-settings.ts';
import { maskCredentials } from './masking.ts';
import { PRODUCT } from './product.ts';

/** A wrong setting, which stops the start. The message is one line and names the variable, the value and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** The largest BODY_LIMIT, in bytes: a name of that length still fits one packet of the database. */
const BODY_LIMIT_MAX = 4 * 1024 * 1024;
const WINDOW_MAX_S = 86_400;

/** THE table of settings, by the names of their fields in `Config`, in `doctor`'s order. */
const SETTINGS = {
  host: setting('HOST', '127.0.0.1', 'an address or a name of this machine', (text) => text),
  /** TCP port; 0 takes a free one. */
  port: wholeNumber('PORT', 4000, 0, 65_535),
  /** `mysql://…`, `sqlite:PATH` or `sqlite::memory:`. Holds a password: never log it. */
  databaseUrl: setting(
    'DATABASE_URL',
    `sqlite:data/${PRODUCT}.sqlite`,
    'mysql://user:password@host:3306/database, sqlite:PATH or sqlite::memory:',
    (text) => (/^(?:sqlite:|mysql:\/\/)./.test(text) ? text : null),
  ),
  databaseUrlFile: setting('DATABASE_URL_FILE', '', 'a file that holds the DATABASE_URL', (text) => text || undefined),
  /** Connections to the database per process. */
  databasePoolMax: wholeNumber('DATABASE_POOL_MAX', 10, 1, 1000),
  /** Base address shown in the OpenAPI document, without a trailing slash; undefined: derived from the request. */
  publicUrl: setting('PUBLIC_URL', '', 'an http:// or https:// address without credentials, ? and #', parsePublicUrl),
  /** Where `X-Forwarded-` headers are believed from; undefined: nowhere. */
  trustedProxies: setting('TRUSTED_PROXIES', '', 'addresses and networks (10.0.0.0/8), with commas', parseNetworks),
  corsOrigins: setting(
    'CORS_ORIGINS',
    '*',
    '* or origins such as https://example.com, separated by commas',
    parseOrigins,
  ),
  bodyLimitBytes: wholeNumber('BODY_LIMIT', 65_536, 1024, BODY_LIMIT_MAX),
  /** Requests of one API key in a window of seconds; undefined: not limited. */
  rateLimit: setting(
    'RATE_LIMIT',
    'off',
    'off, or requests per time such as 600/1m (s, m or h; at most 24h)',
    parseRateLimit,
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    `one of ${LOG_LEVELS.join(', ')}`,
    (text) => LOG_LEVELS.find((level) => level === text) ?? null,
  ),
  migrateOnStart: flag('MIGRATE_ON_START'),
  graphiql: flag('GRAPHIQL'),
  /** The only port of probes and metrics; undefined: PORT. */
  adminPort: setting('ADMIN_PORT', '', 'a whole number from 1 to 65535', (text) =>
    text === '' ? undefined : parseWholeNumber(text, 1, 65_535),
  ),
  /** Whether the first start without DATABASE_URL adds samples. */
  sampleData: flag('SAMPLE_DATA'),
  workers: setting('WORKERS', '1', 'auto or a whole number from 1 to 256', (text) =>
    text === 'auto' ? availableParallelism() : parseWholeNumber(text, 1, 256),
  ),
  /** How long requests in flight may take after SIGTERM, in ms. */
  shutdownGraceMs: wholeNumber('SHUTDOWN_GRACE_MS', 10_000, 0, 600_000),
};

type Values = {
  readonly [Field in keyof typeof SETTINGS]: Exclude<ReturnType<(typeof SETTINGS)[Field]['parse']>, null>;
};

/** The parsed settings of a process, frozen. */
export interface Config extends Values {
  /** The path of PUBLIC_URL, without a trailing slash: a proxy strips it from requests. Empty without one. */
  readonly publicPath: string;
  /** Whether DATABASE_URL is set. */
  readonly hasDatabaseUrl: boolean;
  /** Whether DATABASE_URL is `sqlite::memory:`, which other processes cannot open. */
  readonly inMemory: boolean;
}

/**
 * Parses the settings of `variables`, by default the environment of the process. An empty value counts as absent.
 * Throws ConfigError for the first wrong value.
 */
export function readConfig(variables: NodeJS.Dict<string> = process.env): Config {
  const environment = withDatabaseUrl(variables);
  const parsed = Object.entries(SETTINGS).map(([field, { name, fallback, allowed, parse }]) => {
    const text = given(environment, name) ?? fallback;
    const value = parse(text);
    if (value === null) throw notAllowed(name, text, allowed);
    return [field, value];
  });
  const values: Values = Object.fromEntries(parsed); // each value is parsed by the row of its field
  const inMemory = values.databaseUrl === 'sqlite::memory:';
  if (inMemory && values.workers > 1)
    throw notAllowed(
      'WORKERS',
      `${given(environment, 'WORKERS')}`,
      '1, because sqlite::memory: is seen by one process only',
    );
  if (inMemory && !values.migrateOnStart)
    throw notAllowed('MIGRATE_ON_START', 'false', 'true, because nobody else can migrate sqlite::memory:');
  if (values.adminPort === values.port) throw notAllowed('ADMIN_PORT', `${values.port}`, 'another port than PORT');
  const publicPath = values.publicUrl?.replace(/^https?:\/\/[^/]*/, '') ?? '';
  return Object.freeze({
    ...values,
    publicPath,
    hasDatabaseUrl: given(environment, 'DATABASE_URL') !== undefined,
    inMemory,
  });
}

/** The names of all settings. */
export function settingNames(): string[] {
  return Object.values(SETTINGS).map(({ name }) => name);
}

/** All settings of this process, passwords masked. `value` is undefined where neither a value nor a default is set. */
export function describeSettings({ databaseUrl, hasDatabaseUrl }: Pick<Config, 'databaseUrl' | 'hasDatabaseUrl'>) {
  // DATABASE_URL_FILE is not read again: some files can be read once only.
  const environment = hasDatabaseUrl ? { ...process.env, DATABASE_URL: databaseUrl } : process.env;
  return Object.values(SETTINGS).map(({ name, fallback }) => {
    const text = given(environment, name);
    return { name, value: maskCredentials(text ?? fallback) || undefined, isDefault: text === undefined };
  });
}

/** The longest DATABASE_URL of a file, in characters. */
const URL_MAX = 4096;

/** Adds the DATABASE_URL of DATABASE_URL_FILE, as the images of databases read theirs: https://hub.docker.com/_/mysql */
function withDatabaseUrl(environment: NodeJS.Dict<string>): NodeJS.Dict<string> {
  const { name, allowed } = SETTINGS.databaseUrlFile;
  const file = given(environment, name);
  if (file === undefined) return environment;
  try {
    if (given(environment, 'DATABASE_URL') !== undefined) throw new Error('and no DATABASE_URL beside it');
    const text = readFileSync(file, 'utf8').trim();
    if (text === '') throw new Error('it is empty');
    // Here, because a value that is refused later is quoted, and what the file holds may be a secret.
    if (/[\r\n]/.test(text) || text.length > URL_MAX || SETTINGS.databaseUrl.parse(text) === null)
      throw new Error('it must hold one DATABASE_URL and nothing else');
    return { ...environment, DATABASE_URL: text };
  } catch (error) {
    throw notAllowed(name, file, `${allowed} (${(error as Error).message})`); // fs throws Errors, too
  }
}

function given(environment: NodeJS.Dict<string>, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

function notAllowed(name: string, text: string, allowed: string): ConfigError {
  return new ConfigError(`${name}=${JSON.stringify(maskCredentials(text))} is not allowed: ${allowed}`);
}

/**
 * One variable of the environment. `fallback` is the default as its text, empty when there is none. `parse` gives null for a
 * text that is not allowed.
 */
function setting<Value>(name: string, fallback: string, allowed: string, parse: (text: string) => Value | null) {
  return { name, fallback, allowed, parse };
}

function wholeNumber(name: string, fallback: number, min: number, max: number) {
  const allowed = `a whole number from ${min} to ${max}`;
  return setting(name, String(fallback), allowed, (text) => parseWholeNumber(text, min, max));
}

function parseWholeNumber(text: string, min: number, max: number): number | null {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

function flag(name: string) {
  return setting(name, 'true', 'true or false', (text) => (/^(?:true|false)$/.test(text) ? text === 'true' : null));
}

function parseRateLimit(text: string) {
  if (text === 'off') return undefined;
  const [, requests = '', count = '', unit = ''] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * { s: 1, m: 60, h: 3600, '': Number.NaN }[unit as 's' | 'm' | 'h' | '']; // as matched
  return seconds <= WINDOW_MAX_S ? { requests: Number(requests), seconds } : null;
}
