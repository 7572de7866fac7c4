import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { KEY_PREFIX } from '../masking.ts';
import { keyVariable } from './code-samples.js';

/** Stands for the base address of this service in the content of a page. Escaping does not change it. */
export const ADDRESS = 'http://address.invalid';

/** The environment variable that the samples read the key from. */
export const VARIABLE = keyVariable(KEY_PREFIX);

/** A page, or an asset of a page; `pageRoutes` serves it. */
export interface Page {
  readonly path: string;
  readonly contentType: string;
  /** Whether the path changes with the content, so that browsers may cache it for ever. */
  readonly immutable?: boolean;
  /** As `OpenRoute.sharesPath`. */
  readonly sharesPath?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether `load` gives content that is compressed by Brotli. */
  readonly isCompressed?: boolean;
  /** Whether the content names ADDRESS: each client gets the base address of its request in place of it. */
  readonly namesAddress?: boolean;
  /** Gives the content, always the same. Called when an encoding of it, or its tag, is first asked for. */
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

/** HTML that is put into other HTML as it stands. */
export interface Html {
  readonly html: string;
}

/** What can be put into HTML: a text is escaped, a list is joined, `undefined` and `false` leave nothing. */
export type Content = Html | string | number | false | undefined | readonly Content[];

/** A tag for template literals of HTML. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return { html: String.raw({ raw: strings }, ...contents.map(toHtml)) };
}

/** A placeholder such as `__URL__`: to the parser of every language it is a name. */
const PLACEHOLDER = /__([A-Z]+(?:_[A-Z]+)*)__/g;

/**
 * The text of the file `name` in this folder, with `values` in place of its placeholders. Throws Error, which stops the
 * start, when a placeholder has no value.
 */
export function fillFile(name: string, values: Readonly<Record<string, string>>): string {
  const template = readFileSync(new URL(name, import.meta.url), 'utf8').trimEnd();
  return template.replaceAll(PLACEHOLDER, (placeholder, key) => {
    const value = values[key];
    if (value === undefined)
      throw new Error(`src/gateway/pages/${name} has ${placeholder}, for which there is no value.`);
    return value;
  });
}

/** A file of HTML in this folder, filled as `fillFile` does. */
export function htmlFile(name: string, contents: Readonly<Record<string, Content>>): Html {
  const values = Object.entries(contents).map(([key, content]) => [key, toHtml(content)]);
  return { html: fillFile(name, Object.fromEntries(values)) };
}

/** `text` as HTML; a part between two ` becomes a `code` element. */
export function inline(text: string): Html {
  return { html: toHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>') };
}

/** Content as HTML, for the inside and the quoted attributes of elements. */
function toHtml(content: Content): string {
  if (content === undefined || content === false) return '';
  if (typeof content === 'object') return 'html' in content ? content.html : content.map(toHtml).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
