import { availableParallelism } from 'node:os';
import { maskCredentials } from './credentials.ts';
import { PRODUCT } from './product.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Where things are kept, when nothing says otherwise. */
export const DEFAULT_DATABASE_URL = `sqlite:data/${PRODUCT}.sqlite`;

/** The longest body an operator may allow, in bytes: a name of it still fits one database packet. */
export const BODY_LIMIT_MAX = 4 * 1024 * 1024;

/** All that the environment decides; frozen, parsed once at the start of a process. */
export interface Config {
  readonly host: string;
  /** TCP port; 0 takes a free one. */
  readonly port: number;
  /** `mysql://…`, `sqlite:PATH` or `sqlite::memory:`. Holds a password: never log it. */
  readonly databaseUrl: string;
  /** True when nobody set DATABASE_URL: a newcomer's machine. */
  readonly embedded: boolean;
  /** True for `sqlite::memory:`: nobody but this process sees the database. */
  readonly inMemory: boolean;
  /** Connections to the database per process. */
  readonly databasePoolMax: number;
  /** Base address shown in the OpenAPI document, without a trailing slash; absent: from the request. */
  readonly publicUrl: string | undefined;
  /** Origins that browsers may call from, or `*`. */
  readonly corsOrigins: readonly string[] | '*';
  /** Bytes a request body may have. */
  readonly bodyLimitBytes: number;
  /** Requests of one API key in a window of seconds; absent: not limited. */
  readonly rateLimit: { readonly requests: number; readonly seconds: number } | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly migrateOnStart: boolean;
  readonly graphiql: boolean;
  /** Whether a newcomer's first start adds samples. */
  readonly sampleData: boolean;
  /** Server processes. */
  readonly workers: number;
  /** How long requests under way may take after SIGTERM, in ms. */
  readonly shutdownGraceMs: number;
}

/** A setting that stops the start; its message is one line and names variable, value and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Settings by name, as the environment has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Adds `settings`, as of a `.env` file, to the environment of this process; what is set already stays. */
export function addToEnvironment(settings: Environment): void {
  for (const [name, value] of Object.entries(settings)) process.env[name] ??= value;
}

/**
 * The configuration that `environment` (by default the process's own) describes. An empty value counts as absent.
 * Throws ConfigError for the first wrong value.
 */
export function readConfig(environment: Environment = process.env): Config {
  const config = readSettings((name) => environment[name]?.trim() || undefined);
  if (config.inMemory && config.workers > 1) {
    throw wrong('WORKERS', environment.WORKERS?.trim() ?? '', '1, because sqlite::memory: is seen by one process only');
  }
  // Elsewhere `npm run migrate` can do it; and a worker, which never migrates, has no database in memory.
  if (config.inMemory && !config.migrateOnStart) {
    throw wrong('MIGRATE_ON_START', 'false', 'true, because nobody else can migrate sqlite::memory:');
  }
  return config;
}

/** The names of all settings, in the order in which they are read. */
export function settingNames(): readonly string[] {
  const names = new Set<string>();
  readSettings((name) => {
    names.add(name);
    return undefined;
  });
  return [...names];
}

/** How a setting was given in the environment, with no secret in it; undefined when it was not. */
export function givenSetting(name: string): string | undefined {
  const given = process.env[name]?.trim();
  return given ? maskCredentials(given) : undefined;
}

function readSettings(text: (name: string) => string | undefined): Config {
  const databaseUrl = text('DATABASE_URL');
  return Object.freeze({
    host: text('HOST') ?? '127.0.0.1',
    port: wholeNumber('PORT', text('PORT'), 4000, 0, 65_535),
    databaseUrl: parseDatabaseUrl(databaseUrl) ?? DEFAULT_DATABASE_URL,
    embedded: databaseUrl === undefined,
    inMemory: databaseUrl === 'sqlite::memory:',
    databasePoolMax: wholeNumber('DATABASE_POOL_MAX', text('DATABASE_POOL_MAX'), 10, 1, 1000),
    publicUrl: parsePublicUrl(text('PUBLIC_URL')),
    corsOrigins: parseOrigins(text('CORS_ORIGINS')),
    bodyLimitBytes: wholeNumber('BODY_LIMIT', text('BODY_LIMIT'), 65_536, 1024, BODY_LIMIT_MAX),
    rateLimit: parseRateLimit(text('RATE_LIMIT')),
    logLevel: parseLogLevel(text('LOG_LEVEL')),
    migrateOnStart: flag('MIGRATE_ON_START', text('MIGRATE_ON_START'), true),
    graphiql: flag('GRAPHIQL', text('GRAPHIQL'), true),
    sampleData: flag('SAMPLE_DATA', text('SAMPLE_DATA'), true),
    workers: parseWorkers(text('WORKERS')),
    shutdownGraceMs: wholeNumber('SHUTDOWN_GRACE_MS', text('SHUTDOWN_GRACE_MS'), 10_000, 0, 600_000),
  });
}

function wrong(name: string, value: string, allowed: string): ConfigError {
  return new ConfigError(`${name}=${JSON.stringify(value)} is not allowed: ${allowed}`);
}

function wholeNumber(name: string, value: string | undefined, fallback: number, least: number, most: number): number {
  if (value === undefined) return fallback;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= least && number <= most)) {
    throw wrong(name, value, `a whole number from ${least} to ${most}`);
  }
  return number;
}

function flag(name: string, value: string | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (value !== 'true' && value !== 'false') throw wrong(name, value, 'true or false');
  return value === 'true';
}

/** The longest window of a rate limit, in seconds. */
const WINDOW_MAX_S = 86_400;

function parseRateLimit(value: string | undefined): Config['rateLimit'] {
  if (value === undefined || value === 'off') return undefined;
  const [, requests = '', count = '', unit = ''] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})([smh])$/.exec(value) ?? [];
  const seconds = Number(count) * { s: 1, m: 60, h: 3600, '': Number.NaN }[unit as 's' | 'm' | 'h' | '']; // as matched
  if (seconds <= WINDOW_MAX_S) return { requests: Number(requests), seconds };
  throw wrong('RATE_LIMIT', value, 'off, or requests per time such as 600/1m (s, m or h; at most 24h)');
}

const WORKERS_MAX = 256;

function parseWorkers(value: string | undefined): number {
  if (value === 'auto') return availableParallelism();
  const workers = value === undefined ? 1 : /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (workers >= 1 && workers <= WORKERS_MAX) return workers;
  throw wrong('WORKERS', value ?? '', `auto or a whole number from 1 to ${WORKERS_MAX}`);
}

function parseLogLevel(value: string | undefined): Config['logLevel'] {
  const level = LOG_LEVELS.find((known) => known === (value ?? 'info'));
  if (level === undefined) throw wrong('LOG_LEVEL', value ?? '', `one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

function parsePublicUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const plain = url !== null && !url.username && !url.password && !url.search && !url.hash;
  if (!plain || !/^https?:$/.test(url.protocol)) {
    throw wrong('PUBLIC_URL', maskCredentials(value), 'an http:// or https:// address without credentials, ? and #');
  }
  return url.href.replace(/\/+$/, '');
}

function parseOrigins(value: string | undefined): Config['corsOrigins'] {
  if (value === undefined || value === '*') return '*';
  return value.split(/[\s,]+/).map((entry) => {
    const url = URL.parse(entry);
    // An origin is scheme, host and port (RFC 6454 §6.2): what a browser sends must be equal to it.
    if (url === null || url.origin !== entry || entry.includes('*')) {
      throw wrong(
        'CORS_ORIGINS',
        maskCredentials(value),
        '* or origins such as https://example.com, separated by commas',
      );
    }
    return entry;
  });
}

function parseDatabaseUrl(value: string | undefined): string | undefined {
  if (value === undefined || /^sqlite:.+/.test(value) || /^mysql:\/\/.+/.test(value)) return value;
  throw wrong(
    'DATABASE_URL',
    maskCredentials(value),
    'mysql://user:password@host:3306/database, sqlite:PATH or sqlite::memory:',
  );
}
