import { createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import mysql, { type ConnectionOptions, type SslOptions } from 'mysql2';
import { MysqlPoolError } from './pool-error.ts';

/** mysql2's options for TLS and for the server's RSA key. */
export type ServerTrust = Pick<ConnectionOptions, 'ssl' | 'authPlugins'>;

/** The options of an address after the `?`; all but `ssl` have the names of MySQL's own clients. */
const OPTIONS = ['ssl', 'ssl-cert', 'ssl-key', 'server-public-key-path', 'get-server-public-key'] as const;
type Options = Readonly<Partial<Record<(typeof OPTIONS)[number], string>>>;
/** The texts of the files that options name: authorities, certificate, key, public key. */
type Files = readonly (string | undefined)[];

/** The size limit of a file, in bytes; the authorities of a system are about 200,000. */
const FILE_BYTES_MAX = 1_048_576;

/**
 * Gives a function that reads the TLS files of an address's options, so that a renewed file counts for the next connection. Files
 * are checked, which takes milliseconds, only when they have changed. Both throw POOL_TRUST, with a message of one line.
 */
export function createTrustReader(query: string): () => ServerTrust {
  const given = new URLSearchParams(query);
  const unknown = [...given.keys()].find((name) => !OPTIONS.some((option) => option === name));
  if (unknown !== undefined) refuse(`unknown option ${JSON.stringify(unknown)}; there are ${OPTIONS.join(', ')}`);
  const options: Options = Object.fromEntries(given);
  let last: { readonly files: Files; readonly trust: ServerTrust } | undefined;
  return () => {
    const paths = [caPath(options), options['ssl-cert'], options['ssl-key'], options['server-public-key-path']];
    const files = paths.map((path) => path && readSmall(path));
    if (!last?.files.every((text, index) => text === files[index])) last = { files, trust: makeTrust(options, files) };
    return last.trust;
  };
}

function refuse(message: string, cause?: unknown): never {
  throw new MysqlPoolError('POOL_TRUST', message, cause);
}

/** The path in `?ssl=/path/ca.pem`. The other values of `ssl` are words and JSON. */
function caPath({ ssl = 'false' }: Options): string | undefined {
  return /^(?:true|false|skip-verify|\{.*)$/s.test(ssl) ? undefined : ssl;
}

function readSmall(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > 0 && size <= FILE_BYTES_MAX) return readFileSync(path, 'utf8');
  } catch (error) {
    refuse(`${path} cannot be read (${(error as Error).message})`, error); // fs throws Errors
  }
  return refuse(`${path} must be a file of 1 to ${FILE_BYTES_MAX} bytes`);
}

function makeTrust(options: Options, [ca, cert, key, publicKey]: Files): ServerTrust {
  const { ssl = 'false', 'get-server-public-key': mayAskForKey = 'true' } = options;
  const [first] = Object.keys(options).filter(
    (name) => name.startsWith('ssl-') === (ssl === 'false') && name !== 'ssl',
  );
  if (first !== undefined) refuse(`${first} is for connections ${ssl === 'false' ? 'with' : 'without'} ssl`);
  if (!/^(?:true|false)$/.test(mayAskForKey)) refuse('get-server-public-key must be true or false');
  try {
    if (ssl !== 'false')
      return { ssl: makeTls(ssl, { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }) };
    if (publicKey) return trustOneKey({ serverPublicKey: createPublicKey(publicKey) });
  } catch (error) {
    const shown = Object.entries(options).map(([name, value]) => `${name}=${value.startsWith('{') ? '{…}' : value}`);
    refuse(`${shown.join('&')} cannot be used (${(error as Error).message})`, error); // all of them throw Errors
  }
  return mayAskForKey === 'true' ? {} : trustOneKey({ onServerPublicKey: refuseKey });
}

/** The TLS options of mysql2, https://sidorares.github.io/node-mysql2/docs/documentation/ssl; throws when they cannot be used. */
function makeTls(ssl: string, material: Pick<SslOptions, 'ca' | 'cert' | 'key'>): SslOptions {
  const tls: SslOptions = ssl.startsWith('{') ? { ...JSON.parse(ssl), ...material } : material;
  // Without a check of the host name, any certificate of a public authority would pass.
  if (ssl === 'true') tls.verifyIdentity = true;
  if (ssl === 'skip-verify') tls.rejectUnauthorized = false;
  if (typeof material.ca === 'string') new X509Certificate(material.ca); // createSecureContext does not check it
  createSecureContext(tls as SecureContextOptions); // the same names; later, mysql2 would throw within a listener
  return tls;
}

/**
 * Authentication plugins that accept this RSA key only. Without TLS, a server may ask for the password encrypted by its key,
 * https://dev.mysql.com/doc/refman/9.7/en/caching-sha2-pluggable-authentication.html
 */
function trustOneKey(key: Parameters<typeof mysql.authPlugins.sha256_password>[0]): ServerTrust {
  const { caching_sha2_password, sha256_password } = mysql.authPlugins;
  return { authPlugins: { caching_sha2_password: caching_sha2_password(key), sha256_password: sha256_password(key) } };
}

function refuseKey(): never {
  refuse('the server asks for the password, and its key is not known: server-public-key-path');
}
