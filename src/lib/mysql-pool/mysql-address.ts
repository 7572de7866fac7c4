import { MysqlPoolError } from './pool-error.ts';
import { createTrustReader, type ServerTrust } from './server-trust.ts';

/** One host of an address. */
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

// The password ends at the last @ before the options: it may contain an unencoded @, and so may a path in an option.
const ADDRESS =
  /^mysql:\/\/(?:([^:@/]*)(?::((?:(?!\?(?:ssl|server|get)[a-z-]*=).)*))?@)?([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i;

/** Parses a `mysql://` address. Throws POOL_ADDRESS; the message begins with `name`, has one line and never shows the password. */
export function parseMysqlAddress(text: string, name = 'The address'): MysqlAddress {
  const refuse = (message: string, cause?: unknown): never => {
    throw new MysqlPoolError('POOL_ADDRESS', `${name}${message}`, cause);
  };
  const refuseForm = () => refuse(' must have the form mysql://user:password@host:3306/database');
  const decode = (part: string, encoded: string): string => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return refuse(`: the ${part} has a % that begins no percent-encoding; write it as %25`);
    }
  };
  const parseHost = (host: string): MysqlHost => {
    const [, ipv6, hostName, port = '3306'] = HOST.exec(host) ?? refuseForm();
    if (Number(port) < 1 || Number(port) > 65_535) refuse(`: ${port} is no port; allowed are 1 to 65535`);
    return { host: ipv6 ?? hostName ?? '', port: Number(port) };
  };
  const readOptions = (query: string): MysqlAddress['readTrust'] => {
    try {
      const readTrust = createTrustReader(query);
      readTrust();
      return readTrust;
    } catch (error) {
      return refuse(`: ${(error as Error).message}`, error); // its own Errors
    }
  };
  const [, user = 'root', password = '', hosts = '', database = '', query = ''] = ADDRESS.exec(text) ?? refuseForm();
  return {
    hosts: hosts.split(',').map(parseHost),
    user: decode('user', user),
    password: decode('password', password),
    database: decode('database', database),
    readTrust: readOptions(query),
  };
}
