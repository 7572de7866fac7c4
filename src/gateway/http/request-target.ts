import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { parse } from 'node:querystring';
import { ApiError } from '../errors.ts';

/** RFC 9112 §3.2.1, in visible ASCII without `#`: fragments are never sent. */
const ORIGIN_FORM = /^\/[!"$-~]*$/;
/** RFC 9112 §3.2.2, with groups for authority, path and query. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(\/[^?#]*)?(\?[^#]*)?$/i;

/**
 * Reads the target of a request: its path and the query without `?`. Afterwards `headers.host` is a valid host. ApiError
 * `bad_request` when one of them is invalid, `not_found` for `OPTIONS *`.
 */
export function readRequestTarget(request: IncomingMessage): { path: string; querystring: string } {
  requireHost(request);
  if (request.httpVersionMajor > 1) throw new ApiError('bad_request', 'The HTTP version must be 1.1 or 1.0.');
  const { url = '' } = request;
  const target = ORIGIN_FORM.test(url) ? url : readOtherForm(request, url);
  const end = target.indexOf('?');
  return end < 0
    ? { path: target, querystring: '' }
    : { path: target.slice(0, end), querystring: target.slice(end + 1) };
}

function readOtherForm(request: IncomingMessage, target: string): string {
  if (target === '*' && request.method === 'OPTIONS') {
    throw new ApiError('not_found', 'OPTIONS * is not served: name a path.'); // valid, RFC 9112 §3.2.4
  }
  const [whole, authority = '', path = '/', query = ''] = ABSOLUTE_FORM.exec(target) ?? [];
  // RFC 9110 §4.2.1 and §4.2.4: an http URI without a host, or with a user, is invalid.
  if (whole === undefined || !isHost(authority) || !ORIGIN_FORM.test(path + query)) {
    throw new ApiError('bad_request', 'The target of the request must be a path, or an http address.');
  }
  request.headers.host = authority; // RFC 9112 §3.2.2: it replaces the received Host
  return path + query;
}

/** RFC 9112 §3.2: exactly one valid Host, else 400. Node joins several lines by `, `, which makes them an invalid host. */
function requireHost({ headers, httpVersionMajor, httpVersionMinor, socket }: IncomingMessage): void {
  if (headers.host !== undefined) {
    if (isHost(headers.host)) return;
    throw new ApiError('bad_request', 'The Host header must be one host, with its port if it has one.');
  }
  if (httpVersionMajor >= 1 && httpVersionMinor >= 1) throw new ApiError('bad_request', 'The Host header is missing.');
  const { localAddress = 'localhost', localPort } = socket; // RFC 9112 §3.3: HTTP/1.0 needs no Host; then it is the server's own
  headers.host = `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

// RFC 3986 §3.2.2: reg-name, which includes IPv4 addresses, with at most the 255 characters of a DNS name; no comma, which separates hosts.
const NAME = /^(?:[\w.~!$&'()*+;=-]|%[\dA-Fa-f]{2}){1,255}$/;
const HOST = /^(.*?)(?::(\d{0,5}))?$/;
const IP_LITERAL = /^\[([^%]*)\]$/; // `%` begins a zone, which has a meaning for the client only
const HOST_MAX = 270;

/** Whether a text is RFC 9110 §7.2's `uri-host [":" port]` with a host that is not empty. */
export function isHost(text: string): boolean {
  if (text.length > HOST_MAX) return false;
  const [, host = '', port = ''] = HOST.exec(text) ?? [];
  return Number(port) <= 65_535 && (NAME.test(host) || isIPv6(IP_LITERAL.exec(host)?.[1] ?? ''));
}

/**
 * Reads the `known` parameters of a query string, and ignores others. ApiError `bad_request` for one that is given twice, or in
 * brackets (`status[]`), as clients write lists: a part of it would be answered as if it were all.
 */
export function readQueryParameters(
  querystring: string,
  known: readonly { readonly name: string }[],
): NodeJS.Dict<string> {
  const values: NodeJS.Dict<string> = Object.create(null);
  if (querystring === '') return values;
  const sent = parse(querystring, '&', '=', { maxKeys: 0 });
  const keys = Object.keys(sent);
  for (const { name } of known) {
    if (keys.some((key) => key.startsWith(`${name}[`)))
      throw new ApiError('bad_request', `${name} takes one value, without brackets.`);
    const text = sent[name];
    if (Array.isArray(text)) throw new ApiError('bad_request', `${name} was given twice.`);
    if (text !== undefined) values[name] = text;
  }
  return values;
}
