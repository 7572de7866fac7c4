import type { IncomingMessage } from 'node:http';

/**
 * The address that a request's clients reach this service at, without a trailing slash: PUBLIC_URL, or the Host, which
 * `readRequestTarget` has found valid. TLS ends in front of this service, which PUBLIC_URL tells.
 */
export function baseUrl({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string | undefined): string {
  return publicUrl ?? `http://${headers.host}`;
}
