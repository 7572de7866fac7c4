import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { holdsKey } from '../key-mask.ts';

// Printable, no spaces, of bounded length: it goes into a header and into the log.
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/** The id of a request: a valid `X-Request-Id` that came, else a new one. A key in the wrong place is not sent back. */
export function requestIdOf({ 'x-request-id': sent }: IncomingHttpHeaders): string {
  return typeof sent === 'string' && REQUEST_ID.test(sent) && !holdsKey(sent) ? sent : randomUUID();
}
