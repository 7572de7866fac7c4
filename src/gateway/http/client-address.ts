import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { isHost } from './request-target.ts';

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const;
/** An address as proxies write it, with groups for `[IPv6]:port`, `IPv4:port` and IPv6; the port may be missing. */
const HOP = /^(?:\[([\da-f:.]{2,45})\](?::\d{1,5})?|([\d.]{7,15})(?::\d{1,5})?|([\da-f:.]{2,45}))$/i;

/** The address at the other end of a server's connection; undefined when the connection has ended. */
export function peerAddress(socket: Duplex): string | undefined {
  const { remoteAddress } = socket as Socket; // the only kind of stream that a server of ours has
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, ''); // RFC 4291 §2.5.5.2: an IPv4 address at an IPv6 socket
}

type Warn = (subject: string, message: string) => void;

/**
 * Creates a function that gives the client's address, and the base address by which the client reached this service. Both come
 * from `X-Forwarded-` headers if the other end of the connection is a trusted proxy. The first such header from anywhere
 * else is logged as a warning, and so is the first of each name that is not understood.
 */
export function createOriginReader({ trustedProxies, publicUrl }: Config, log: Pick<Logger, 'warn'>) {
  const warned = new Set<string>();
  const warn: Warn = (subject, message) => {
    if (!warned.has(subject)) log.warn(message);
    warned.add(subject);
  };
  return ({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>) => {
    const peer = peerAddress(socket) ?? '';
    const isTrusted = isIn(trustedProxies, peer);
    const name = isTrusted ? undefined : FORWARDED.find((header) => headers[header] !== undefined);
    if (name) warn('peer', `${name} came from ${peer}: if that is your proxy, name it in TRUSTED_PROXIES`);
    return {
      clientAddress: isTrusted ? clientAddress(headers, peer, trustedProxies, warn) : peer,
      baseUrl: publicUrl ?? (isTrusted ? forwardedUrl(headers, warn) : `http://${headers.host}`),
    };
  };
}

function isIn(networks: BlockList | undefined, address: string): boolean {
  return networks?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') ?? false;
}

type SentHeaders = IncomingMessage['headers'];

/** The right-most address that is not trusted: each proxy appends the address that its connection came from. */
function clientAddress(headers: SentHeaders, peer: string, trusted: BlockList | undefined, warn: Warn): string {
  let address = peer;
  const hops = headers['x-forwarded-for']?.toString() ?? '';
  for (const hop of hops.split(',').reverse()) {
    const [, bracketed, v4, v6] = HOP.exec(hop.trim()) ?? [];
    const named = bracketed ?? v4 ?? v6 ?? '';
    if (isIP(named) === 0) {
      if (hop !== '') warn('for', `x-forwarded-for: what stands before ${address} is no IP address`);
      return address;
    }
    address = named;
    if (!isIn(trusted, address)) return address;
  }
  return address;
}

/**
 * The base address by a trusted proxy's headers, else `http` and the request's Host. Of a list the left-most value counts, as in
 * Koa and Express. Clients send their keys to this address: a scheme that is not understood becomes the safe one.
 */
function forwardedUrl(headers: SentHeaders, warn: Warn): string {
  const first = (name: string) => headers[name]?.toString().split(',', 1)[0]?.trim();
  const scheme = first('x-forwarded-proto') ?? 'http';
  const host = first('x-forwarded-host') ?? headers.host ?? '';
  const isScheme = /^https?$/i.test(scheme);
  if (!isScheme) warn('proto', 'x-forwarded-proto must be http or https: https is taken');
  if (!isHost(host)) warn('host', 'x-forwarded-host must be a host, with its port if it has one: the Host is taken');
  return `${isScheme ? scheme.toLowerCase() : 'https'}://${isHost(host) ? host : headers.host}`;
}
