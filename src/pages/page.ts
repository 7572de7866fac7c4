import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** A page, or a file that a page needs, as the room that makes it describes it; `http/` serves it. */
export interface Page {
  readonly path: string;
  readonly contentType: string;
  /** Whether the path changes with the content: browsers then need not ask for it again. */
  readonly immutable?: boolean;
  /** Whether only a GET that prefers HTML gets it, and other requests for its path go on. */
  readonly sharesPath?: boolean;
  /** Response headers of its own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether `load` gives it compressed by Brotli. */
  readonly isCompressed?: boolean;
  /** The content; called once, when the first request comes. */
  load(): Promise<string | Buffer>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** An immutable file `name` whose content changes with `version`: its path holds the hash of that. */
export function versionedAsset(name: string, version: string, load: Page['load']): Page {
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) throw new Error(`No content type is known for ${name}`);
  const digest = hash('sha256', version, 'hex').slice(0, 12);
  return { path: `/assets/${digest}/${name}`, contentType, immutable: true, load };
}

/**
 * Small files of ours as immutable assets; `base` is the `import.meta.url` of the module beside them. They have one
 * version, so that the scripts among them can import each other by their names.
 */
export function ownAssets(base: string, ...names: readonly string[]): readonly Page[] {
  const contents = names.map((name) => readFileSync(new URL(name, base), 'utf8'));
  const version = contents.join('\0');
  return names.map((name, index) => versionedAsset(name, version, async () => contents[index] ?? ''));
}

/** `text` as HTML that shows it, in content and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `text` with `code` in it, as HTML. */
export function inline(text: string): string {
  return escapeHtml(text).replaceAll(/&#96;([^&]*)&#96;|`([^`]*)`/g, '<code>$1$2</code>');
}

/** `text` as the beginning of a sentence. */
export function capitalised(text: string): string {
  return text.replace(/^./u, (first) => first.toUpperCase());
}

/** What a page consists of; title and description are plain text, the body is HTML. */
interface PageParts {
  readonly title: string;
  /** For search engines and previews. */
  readonly description: string;
  /** Shown in the browser's tab. */
  readonly icon: Page;
  readonly styles: readonly Page[];
  /** Scripts, which run in this order when the document has been read. */
  readonly modules?: readonly Page[];
  readonly body: string;
}

/** A whole HTML document; it refers to assets relatively, so that it works below a prefix that a proxy strips. */
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
 * The headers of an HTML page. Nothing is allowed but our own styles and images, and the sources of `permissions` by the
 * beginnings of their directives: https://www.w3.org/TR/CSP3/
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

/** An HTML page at a path of its own, written when the first request for it comes. */
export function htmlPage(path: string, permissions: Readonly<Record<string, string>>, parts: () => PageParts): Page {
  const contentType = 'text/html; charset=utf-8';
  return { path, contentType, headers: htmlHeaders(permissions), load: async () => htmlDocument(parts()) };
}
