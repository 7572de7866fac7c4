import { createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import mysql, { type ConnectionOptions, type SslOptions } from 'mysql2';
import { poolError } from '../faults.ts';

/** What mysql2 must know of who the server is, who we are to it, and what is encrypted. */
export type ServerTrust = Pick<ConnectionOptions, 'ssl' | 'authPlugins'>;

/** The options of DATABASE_URL after the `?`; all but the first are named as MySQL's own clients have them. */
const OPTIONS = ['ssl', 'ssl-cert', 'ssl-key', 'server-public-key-path', 'get-server-public-key'] as const;
type Options = Readonly<Partial<Record<(typeof OPTIONS)[number], string>>>;
/** What stands in those of the options that are files: authorities, certificate, key, public key. */
type Files = readonly (string | undefined)[];

/** A file of certificates or a key is no larger, in bytes: a system's authorities are about 200,000. */
const FILE_BYTES_MAX = 1_048_576;

/**
 * What the options of DATABASE_URL say of trust. Each call reads their files, so a renewed one counts for the next
 * connection; it gives the same object as before while they are the same. An Error, of one line, for what is not right.
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
  throw poolError('POOL_TRUST', message, cause);
}

/** `?ssl=/path/ca.pem`; its other values are words and JSON. */
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

/** mysql2's own form, https://sidorares.github.io/node-mysql2/docs/documentation/ssl, of material that was tried. */
function makeTls(ssl: string, material: Pick<SslOptions, 'ca' | 'cert' | 'key'>): SslOptions {
  const tls: SslOptions = ssl.startsWith('{') ? { ...JSON.parse(ssl), ...material } : material;
  // Any certificate of a public authority would do, were the name in it not checked.
  if (ssl === 'true') tls.verifyIdentity = true;
  if (ssl === 'skip-verify') tls.rejectUnauthorized = false;
  if (typeof material.ca === 'string') new X509Certificate(material.ca); // which the next line takes whatever it is
  createSecureContext(tls as SecureContextOptions); // the same names; mysql2 would throw into its socket
  return tls;
}

/**
 * Without TLS a server may ask for the password, encrypted by its public key: these ways to prove oneself take this key only,
 * https://dev.mysql.com/doc/refman/9.7/en/caching-sha2-pluggable-authentication.html
 */
function trustOneKey(key: Parameters<typeof mysql.authPlugins.sha256_password>[0]): ServerTrust {
  const { caching_sha2_password, sha256_password } = mysql.authPlugins;
  return { authPlugins: { caching_sha2_password: caching_sha2_password(key), sha256_password: sha256_password(key) } };
}

function refuseKey(): never {
  refuse('the server asks for the password, and its key is not known: server-public-key-path');
}
