import { readFileSync } from 'node:fs';
import type { SslOptions } from 'mysql2';
import { ConfigError } from '../../config.ts';

/** One server that may answer. */
export interface MysqlHost {
  readonly host: string;
  readonly port: number;
}

/** The parts of `mysql://user:password@host:3306,host:3306/database?ssl=…`. */
export interface MysqlAddress {
  readonly hosts: readonly [MysqlHost, ...MysqlHost[]];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: SslOptions | undefined;
}

// The password runs to the last @, so that one somebody forgot to encode still works.
const ADDRESS = /^mysql:\/\/(?:([^:@/]*)(?::(.*))?@)?([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const FORM = 'DATABASE_URL must have the form mysql://user:password@host:3306/database';

/** `databaseUrl` taken apart. Throws ConfigError, which never shows the password. */
export function parseMysqlUrl(databaseUrl: string): MysqlAddress {
  const [, user = 'root', password = '', hosts = '', database = '', query = ''] =
    ADDRESS.exec(databaseUrl) ?? refuse(FORM);
  const [first, ...more] = hosts.split(',').map(parseHost);
  if (first === undefined) return refuse(FORM);
  return {
    hosts: [first, ...more],
    user: decode('user', user),
    password: decode('password', password),
    database: decode('database', database),
    ssl: parseOptions(query),
  };
}

function refuse(message: string): never {
  throw new ConfigError(message);
}

function decode(part: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse(`DATABASE_URL: the ${part} has a % that begins no percent-encoding; write it as %25`);
  }
}

function parseHost(text: string): MysqlHost {
  const [, ipv6, name, port = '3306'] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(text) ?? refuse(FORM);
  if (Number(port) < 1 || Number(port) > 65_535) refuse(`DATABASE_URL: ${port} is no port; allowed are 1 to 65535`);
  return { host: ipv6 ?? name ?? '', port: Number(port) };
}

function parseOptions(query: string): SslOptions | undefined {
  const options = new URLSearchParams(query);
  const unknown = [...options.keys()].find((name) => name !== 'ssl');
  if (unknown !== undefined) refuse(`DATABASE_URL: unknown option ${JSON.stringify(unknown)}; the only one is ssl`);
  return parseTls(options.get('ssl') ?? 'false');
}

function parseTls(ssl: string): SslOptions | undefined {
  if (ssl === 'false') return undefined;
  // Any certificate of a public authority would do, were the name in it not checked.
  if (ssl === 'true') return { rejectUnauthorized: true, verifyIdentity: true };
  if (ssl === 'skip-verify') return { rejectUnauthorized: false };
  try {
    // mysql2's own way of writing it: https://sidorares.github.io/node-mysql2/docs/documentation/ssl
    if (ssl.startsWith('{')) return JSON.parse(ssl) as SslOptions; // handed to mysql2, which reads what it knows
    return { ca: readFileSync(ssl, 'utf8'), rejectUnauthorized: true };
  } catch (error) {
    const reason = (error as Error).message; // JSON.parse and readFileSync throw Errors
    return refuse(
      `DATABASE_URL: ssl=${ssl} must be true, skip-verify, the path of a CA file or a JSON object (${reason})`,
    );
  }
}
