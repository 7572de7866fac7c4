import { execFileSync } from 'node:child_process';

/** Makes an RSA key, and a certificate for a host that is its own authority, in two files. */
export function makeCertificate(host: string, key: string, certificate: string): void {
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  execFileSync('openssl', [...words, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
}
