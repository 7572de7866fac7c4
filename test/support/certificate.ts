import { execFileSync } from 'node:child_process';
import { isIP } from 'node:net';

/** Makes an RSA key, and a certificate for a host (a name or an IP address) that is its own authority, in two files. */
export function makeCertificate(host: string, key: string, certificate: string): void {
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`];
  execFileSync('openssl', [...words, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
}
