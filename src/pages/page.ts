import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Context } from 'koa';

/** Stands for the base address in the content of a page with `addressOf`. Escaping does not change it. */
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
  /** Gives the base address for a request, as HTML. It replaces every ADDRESS in the content. */
  readonly addressOf?: (ctx: Context) => string;
  /** Gives the content; called once, at the first request. */
  load(): Promise<string | Buffer>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** An immutable asset `name` whose content depends on `version`; the path has a hash of `version`. */
export function versionedAsset(name: string, version: string, load: Page['load']): Page {
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) throw new Error(`No content type is known for ${name}`);
  const digest = hash('sha256', version, 'hex').slice(0, 12);
  return { path: `/assets/${digest}/${name}`, contentType, immutable: true, load };
}

/**
 * Files of this folder as immutable assets; `base` is the `import.meta.url` of a module beside them. All have one
 * version, so that the scripts among them can import each other by relative names.
 */
export function ownAssets(base: string, ...names: readonly string[]): readonly Page[] {
  const contents = names.map((name) => readFileSync(new URL(name, base), 'utf8'));
  const version = contents.join('\0');
  return names.map((name, index) => versionedAsset(name, version, async () => contents[index] ?? ''));
}

/** Escapes `text` for the content and the quoted attributes of HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `text` as HTML; a part between two ` becomes a `code` element. */
export function inline(text: string): string {
  return escapeHtml(text).replaceAll(/&#96;([^&]*)&#96;|`([^`]*)`/g, '<code>$1$2</code>');
}

/** `text` with a capital letter first. */
export function capitalised(text: string): string {
  return text.replace(/^./u, (first) => first.toUpperCase());
}

/** The parts of a page. `title` and `description` are plain text, `body` is HTML. */
interface PageParts {
  readonly title: string;
  /** For search engines and previews. */
  readonly description: string;
  /** The icon of the browser's tab. */
  readonly icon: Page;
  readonly styles: readonly Page[];
  /** Scripts, which run in this order after the document has been parsed. */
  readonly modules?: readonly Page[];
  readonly body: string;
}

/**
 * An HTML document. Its links to assets are relative, so that the page works behind a proxy that strips a path prefix.
 */
export function htmlDocument({ title, description, icon, styles, modules = [], body }: PageParts): string {
  const reference = ({ path }: Page) => path.slice(1);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(description)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/svg+xml" href="${reference(icon)}">
${styles.map((style) => `<link rel="stylesheet" href="${reference(style)}">`).join('\n')}
${modules.map((module) => `<script src="${reference(module)}" type="module"></script>`).join('\n')}
</head>
<body>
${body}
</body>
</html>
`;
}

/**
 * The headers of an HTML page. The content security policy allows styles and images of this server, and the sources in
 * `permissions`, by the beginning of a directive such as `script`: https://www.w3.org/TR/CSP3/
 */
export function htmlHeaders(permissions: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const sources = Object.entries({ style: "'self'", img: "'self'", ...permissions });
  const policy = [
    "default-src 'none'",
    ...sources.map(([kind, source]) => `${kind}-src ${source}`),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { 'Content-Security-Policy': policy.join('; '), 'Referrer-Policy': 'no-referrer' };
}

/** An HTML page; its content is made at the first request. */
export function htmlPage(path: string, permissions: Readonly<Record<string, string>>, parts: () => PageParts): Page {
  const contentType = 'text/html; charset=utf-8';
  return { path, contentType, headers: htmlHeaders(permissions), load: async () => htmlDocument(parts()) };
}
