import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { ApiError } from '../errors.ts';

/** RFC 9112 §3.2.1, in visible ASCII. No `#`: a fragment is never sent. Koa and its parts read such a target without failing. */
const ORIGIN_FORM = /^\/[!"$-~]*$/;
/** RFC 9112 §3.2.2, in parts: authority, path, query. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(\/[^?#]*)?(\?[^#]*)?$/i;

/**
 * Understands the target and the Host of a request, once: from here on `request.url` is origin-form, and
 * `headers.host` a valid host. ApiError `bad_request` when one of them is not to be understood.
 */
export function readRequestTarget(request: IncomingMessage): void {
  requireHost(request);
  if (request.httpVersionMajor > 1) throw new ApiError('bad_request', 'The HTTP version must be 1.1 or 1.0.');
  const { url = '' } = request;
  if (!ORIGIN_FORM.test(url)) request.url = readOtherForm(request, url);
}

function readOtherForm(request: IncomingMessage, target: string): string {
  if (target === '*' && request.method === 'OPTIONS') {
    throw new ApiError('not_found', 'OPTIONS * is not served: name a path.'); // RFC 9112 §3.2.4: understood
  }
  const [whole, authority = '', path = '/', query = ''] = ABSOLUTE_FORM.exec(target) ?? [];
  // An http address without a host, or with a user, is none: RFC 9110 §4.2.1 and §4.2.4.
  if (whole === undefined || !isHost(authority) || !ORIGIN_FORM.test(path + query)) {
    throw new ApiError('bad_request', 'The target of the request must be a path, or an http address.');
  }
  request.headers.host = authority; // RFC 9112 §3.2.2: it replaces the Host that came
  return path + query;
}

/** RFC 9112 §3.2: one, and valid, else 400. Several lines come joined by a comma and a space, which no host has. */
function requireHost({ headers, httpVersionMajor, httpVersionMinor, socket }: IncomingMessage): void {
  if (headers.host !== undefined) {
    if (isHost(headers.host)) return;
    throw new ApiError('bad_request', 'The Host header must be one host, with its port if it has one.');
  }
  if (httpVersionMajor >= 1 && httpVersionMinor >= 1) throw new ApiError('bad_request', 'The Host header is missing.');
  const { localAddress = 'localhost', localPort } = socket; // RFC 9112 §3.3: the server's own
  headers.host = `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

// RFC 3986 §3.2.2: reg-name, which IPv4 addresses fit, and the 255 characters that DNS allows a name.
const NAME = /^(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2}){1,255}$/;
const HOST = /^(.*?)(?::(\d{0,5}))?$/;
const HOST_MAX = 270;

/** RFC 9110 §7.2: uri-host [":" port], of a host that is not empty. */
function isHost(text: string): boolean {
  if (text.length > HOST_MAX) return false;
  const [, host = '', port = ''] = HOST.exec(text) ?? [];
  return Number(port) <= 65_535 && (host.startsWith('[') ? isIpLiteral(host) : NAME.test(host));
}

function isIpLiteral(host: string): boolean {
  return host.endsWith(']') && !host.includes('%') && isIPv6(host.slice(1, -1)); // a zone is local to the client
}
