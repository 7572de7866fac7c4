import { BlockList, isIP } from 'node:net';

/** An http or https address without a trailing slash; undefined for an empty text, null for another. */
export function parsePublicUrl(text: string): string | undefined | null {
  if (text === '') return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && !url.username && !url.password && !/[?#]/.test(url.href); // also without anything after it
  return isPlain && /^https?:$/.test(url.protocol) ? url.href.replace(/\/+$/, '') : null;
}

/** IP addresses and networks; undefined for an empty text, null for another. */
export function parseNetworks(text: string): BlockList | undefined | null {
  if (text === '') return undefined;
  const networks = new BlockList(); // an IPv4 address is in it in its IPv6 form (::ffff:…), too
  for (const network of text.split(/[\s,]+/)) {
    const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const isV6 = isIP(address) === 6;
    const most = isV6 ? 128 : 32;
    if (isIP(address) === 0 || Number(bits ?? most) > most) return null;
    networks.addSubnet(address, Number(bits ?? most), isV6 ? 'ipv6' : 'ipv4');
  }
  return networks;
}

/** Origins of any scheme, or `*`; null for another text. */
export function parseOrigins(text: string): readonly string[] | '*' | null {
  if (text === '*') return text;
  const origins = text.split(/[\s,]+/);
  // Scheme, host and port are sent in one normal form (RFC 6454 §6.2), which is compared as text. `URL.origin` knows no scheme of apps.
  const isOrigin = (origin: string) =>
    /^[^*@]+:\/\/[^*@]+$/.test(origin) && URL.parse('/', origin)?.href === `${origin}/`;
  return origins.every(isOrigin) ? origins : null;
}
