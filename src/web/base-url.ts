import type { IncomingMessage } from 'node:http';

/**
 * The base address of this service for the client of a request, without a trailing slash: PUBLIC_URL, or `http` and the
 * request's Host, which `readRequestTarget` has validated.
 */
export function baseUrl({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string | undefined): string {
  return publicUrl ?? `http://${headers.host}`;
}
