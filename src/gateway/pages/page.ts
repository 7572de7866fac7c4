import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Html } from './html.ts';

/** Stands for the base address of this service in the content of a page. Escaping does not change it. */
export const ADDRESS = 'http://address.invalid';

/** A page, or an asset of a page; `http/` serves it. */
export interface Page {
  readonly path: string;
  readonly contentType: string;
  /** Whether the path changes with the content, so that browsers may cache it for ever. */
  readonly immutable?: boolean;
  /** Whether only a GET that prefers HTML gets the page, and other requests for the path go to the next handler. */
  readonly sharesPath?: boolean;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether `load` gives content that is compressed by Brotli. */
  readonly isCompressed?: boolean;
  /** Whether the content names ADDRESS: each client gets the base address of its request in place of it. */
  readonly namesAddress?: boolean;
  /** Gives the content; called once, at the first request. */
  load(): Promise<Buffer>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** Makes immutable assets whose content depends on `version`: the name of their folder has a hash of it. */
export function versionedAssets(version: string) {
  const folder = `/assets/${hash('sha256', version, 'hex').slice(0, 12)}`;
  const asset = (name: string, load: Page['load']): Page => {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined) throw new Error(`No content type is known for ${name}`);
    return { path: `${folder}/${name}`, contentType, immutable: true, load };
  };
  return { folder, asset };
}

/**
 * The styles, the scripts and the icon of this folder, as immutable assets of one folder, so that scripts can import each
 * other by relative names.
 */
export function ownAssets() {
  const names = readdirSync(import.meta.dirname).filter((name) => extname(name) in CONTENT_TYPES);
  const contents = new Map(names.map((name) => [name, readFileSync(new URL(name, import.meta.url))]));
  const { folder, asset } = versionedAssets([...contents.values()].join('\0'));
  return { folder, assets: [...contents].map(([name, content]) => asset(name, async () => content)) };
}

/** `text` with a capital letter first. */
export function capitalised(text: string): string {
  return text.replace(/^./u, (first) => first.toUpperCase());
}

/** A path as a link of a page: relative, so that it works behind a proxy that strips a path prefix. */
export function relative(path: string): string {
  return path.slice(1);
}

/**
 * An HTML page. Its content security policy allows styles and images of this server, and the sources in `permissions`, by
 * the beginning of a directive such as `script`: https://www.w3.org/TR/CSP3/
 */
export function htmlPage(path: string, permissions: Readonly<Record<string, string>>, { html }: Html): Page {
  const content = Buffer.from(`${html}\n`);
  const sources = Object.entries({ style: "'self'", img: "'self'", ...permissions });
  const policy = [
    "default-src 'none'",
    ...sources.map(([kind, source]) => `${kind}-src ${source}`),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const headers = { 'Content-Security-Policy': policy.join('; '), 'Referrer-Policy': 'no-referrer' };
  const namesAddress = html.includes(ADDRESS);
  return { path, contentType: 'text/html; charset=utf-8', headers, namesAddress, load: async () => content };
}
