import type { Context } from 'koa';
import { KEY_PREFIX } from '../key-mask.ts';
import type { Service } from '../service.ts';
import { plainAddress } from './code-samples.js';
import { findExampleCalls, readOperations } from './openapi-reader.ts';
import { ADDRESS, escapeHtml, ownAssets, type Page } from './page.ts';

/** Where the reference is served. */
export const REFERENCE_PATH = '/docs';

/** The scripts that the reference and GraphiQL share. */
export const SHARED_SCRIPTS = ['api-key-form.js', 'code-samples.js', 'copy-text.js', 'safe-storage.js'];

/** The service, the paths and the settings that the pages are made from. */
export interface SiteParts {
  readonly service: Service;
  /** Gives the OpenAPI document for a base address without a trailing slash. */
  readonly openApi: (baseUrl: string) => object;
  readonly openApiPath: string;
  readonly graphqlPath: string;
  /** The path of the GraphQL schema in SDL. */
  readonly sdlPath: string;
  /** What GraphQL alone refuses: each code with its meaning or an example of its message. */
  readonly graphqlRefusals: readonly { readonly code: string; readonly message: string }[];
  /** Whether GraphiQL is served. */
  readonly graphiql: boolean;
  /** Throws an ApiError with the reason when the gateway is not ready. */
  readonly checkReady: () => Promise<object>;
}

/** Makes what the pages share. Throws an error, which stops the start, when the service has no list for the samples. */
export function createSite(parts: SiteParts) {
  const { service, openApi } = parts;
  const operations = readOperations(openApi(ADDRESS), service.basePath);
  const names = ['site.css', 'icon.svg', 'prose.css', 'site-header.css'];
  const [style, icon, prose, header] = ownAssets(import.meta.url, ...names) as [Page, Page, Page, Page];
  return {
    ...parts,
    /** The base address for a request. It needs no escaping. */
    addressOf: ({ state }: Context) => plainAddress(state.baseUrl),
    operations,
    calls: findExampleCalls(operations),
    /** Colours and fonts of all pages; the icon of the browser's tab; styles of text pages; styles of the header. */
    assets: { style, icon, prose, header },
  };
}

/** What the pages share. */
export type Site = ReturnType<typeof createSite>;

/**
 * The header of the reference and of GraphiQL, as HTML: links between the pages, and the form for the API key. The
 * script api-key-form.js runs the form; `data-prefix` is the beginning of every key, `data-probe` the call that checks
 * a key. After it there is the dialog of copy-text.js.
 */
export function siteHeader({ service, assets, calls, ...site }: Site, current: string): string {
  const link = (path: string, label: string) =>
    `<a href="${path.slice(1)}"${path === current ? ' aria-current="page"' : ''}>${label}</a>`;
  return `<header class="site-header">
<a class="site-name" href="./"><img src="${assets.icon.path.slice(1)}" alt="" width="26" height="26"><span>${escapeHtml(service.name)}</span></a>
<nav aria-label="Pages">${link(REFERENCE_PATH, 'Reference')}${site.graphiql ? link(site.graphqlPath, 'GraphiQL') : ''}${link(site.openApiPath, 'openapi.json')}</nav>
<form id="key-form" autocomplete="off" data-state="needed" data-prefix="${KEY_PREFIX}" data-probe="${calls.list.path.slice(1)}?limit=1" novalidate>
<p id="key-message" role="status">Every call needs an API key.</p>
<span class="key-entry"><label for="key-input">API key</label>
<input id="key-input" type="password" placeholder="${KEY_PREFIX}…" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="key-message">
<button type="submit">Use key</button></span>
<span class="key-shown">Key <code></code> · <button type="button" data-action="change">change</button> · <button type="button" data-action="forget">forget</button></span>
</form>
</header>
<dialog id="copy-by-hand"><label for="copy-shown">The browser does not let this page copy. Press Ctrl+C or ⌘C.</label>
<textarea id="copy-shown" rows="10" readonly spellcheck="false"></textarea>
<button type="button">Close</button></dialog>`;
}
