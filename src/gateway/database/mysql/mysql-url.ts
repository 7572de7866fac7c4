import { ConfigError } from '../../config.ts';
import { createTrustReader, type ServerTrust } from './server-trust.ts';

/** One host of DATABASE_URL. */
export interface MysqlHost {
  readonly host: string;
  readonly port: number;
}

/** The parts of `mysql://user:password@host:3306,host:3306/database?ssl=…`. */
export interface MysqlAddress {
  readonly hosts: readonly MysqlHost[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Reads the files that the options name; throws POOL_TRUST when one of them is missing or broken. */
  readonly readTrust: () => ServerTrust;
}

// The password ends at the last @, because it may contain an unencoded @.
const ADDRESS = /^mysql:\/\/(?:([^:@/]*)(?::(.*))?@)?([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const FORM = 'DATABASE_URL must have the form mysql://user:password@host:3306/database';

/** Parses a `mysql://` address. Throws ConfigError, which never shows the password. */
export function parseMysqlUrl(databaseUrl: string): MysqlAddress {
  const [, user = 'root', password = '', hosts = '', database = '', query = ''] =
    ADDRESS.exec(databaseUrl) ?? refuse(FORM);
  return {
    hosts: hosts.split(',').map(parseHost),
    user: decode('user', user),
    password: decode('password', password),
    database: decode('database', database),
    readTrust: readOptions(query),
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

function readOptions(query: string): MysqlAddress['readTrust'] {
  try {
    const readTrust = createTrustReader(query);
    readTrust();
    return readTrust;
  } catch (error) {
    return refuse(`DATABASE_URL: ${(error as Error).message}`); // its own Errors
  }
}
