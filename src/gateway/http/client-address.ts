import { type BlockList, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Context, Middleware } from 'koa';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import type {} from '../web/request-state.ts';
import { isHost } from '../web/request-target.ts';

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const;
/** An address as proxies write it, with groups for `[IPv6]:port`, `IPv4:port` and IPv6; the port may be missing. */
const HOP = /^(?:\[([\da-f:.]{2,45})\](?::\d{1,5})?|([\d.]{7,15})(?::\d{1,5})?|([\da-f:.]{2,45}))$/i;

/** The address at the other end of a server's connection; undefined when the connection has ended. */
export function peerAddress(socket: Duplex): string | undefined {
  const { remoteAddress } = socket as Socket; // the only kind of stream that a server of ours has
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, ''); // RFC 4291 §2.5.5.2: an IPv4 address at an IPv6 socket
}

/** The settings that `readForwarded` needs. */
export type ForwardedConfig = Pick<Config, 'trustedProxies' | 'publicUrl'>;

/**
 * Koa middleware: sets the client's address, and the base address by which the client reached this service. Both come
 * from `X-Forwarded-` headers if the other end of the connection is a trusted proxy. The first such header from anywhere
 * else is logged as a warning.
 */
export function readForwarded({ trustedProxies, publicUrl }: ForwardedConfig, log: Logger): Middleware {
  let hasWarned = false;
  return (ctx, next) => {
    const { headers, socket } = ctx.req;
    const peer = peerAddress(socket);
    const isTrusted = peer !== undefined && isIn(trustedProxies, peer);
    ctx.state.clientAddress = isTrusted ? clientAddress(ctx, peer, trustedProxies) : peer;
    ctx.state.baseUrl = publicUrl ?? (isTrusted ? forwardedUrl(ctx) : `http://${headers.host}`);
    if (!isTrusted && !hasWarned) {
      const name = FORWARDED.find((header) => headers[header] !== undefined);
      hasWarned = name !== undefined;
      if (name) log.warn(`${name} came from ${peer}: if that is your proxy, name it in TRUSTED_PROXIES`);
    }
    return next();
  };
}

function isIn(networks: BlockList | undefined, address: string): boolean {
  return networks?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') ?? false;
}

/** The right-most address that is not trusted: each proxy appends the address that its connection came from. */
function clientAddress(ctx: Context, peer: string, trusted: BlockList | undefined): string {
  let address = peer;
  for (const hop of ctx.get('x-forwarded-for').split(',').reverse()) {
    const [, bracketed, v4, v6] = HOP.exec(hop.trim()) ?? [];
    const named = bracketed ?? v4 ?? v6 ?? '';
    if (isIP(named) === 0) return address; // a malformed entry: what stands before it cannot be trusted
    address = named;
    if (!isIn(trusted, address)) return address;
  }
  return address;
}

/** The base address by a trusted proxy's headers. A missing or malformed header is replaced by `http`, or by the request's Host. */
function forwardedUrl(ctx: Context): string {
  const scheme = /^https?$/i.exec(ctx.get('x-forwarded-proto'))?.[0].toLowerCase() ?? 'http';
  const host = ctx.get('x-forwarded-host');
  return `${scheme}://${isHost(host) ? host : ctx.req.headers.host}`;
}
