import { KEY_PREFIX } from '../key-mask.ts';
import type { Service } from '../service.ts';
import { findExampleCalls, readOperations } from './openapi-reader.ts';
import { escapeHtml, ownAssets, type Page } from './page.ts';

/** Where the REST reference is served. */
export const REFERENCE_PATH = '/docs';

// Where nobody said which address the gateway has, the reference's script puts in that of the page.
const USUAL_URL = 'http://127.0.0.1:4000';

/** What the pages are made from: the service, and where this gateway has what. */
export interface SiteParts {
  readonly service: Service;
  /** The OpenAPI document of the service at a base address, which has no trailing slash. */
  readonly openApi: (baseUrl: string) => object;
  readonly openApiPath: string;
  readonly graphqlPath: string;
  /** Whether GraphiQL is served. */
  readonly graphiql: boolean;
  /** The address that clients reach this gateway at, where somebody said it. */
  readonly publicUrl: string | undefined;
  /** Throws an ApiError, whose message says why, when a request could not be served. */
  readonly checkReady: () => Promise<object>;
}

/** Reads what the pages have in common. Throws an error that stops the start when the service has no list to show. */
export function createSite(parts: SiteParts) {
  const { service, openApi, publicUrl: baseUrl = USUAL_URL } = parts;
  const operations = readOperations(openApi(baseUrl), service.basePath);
  const names = ['site.css', 'icon.svg', 'prose.css', 'site-header.css'];
  const [style, icon, prose, header] = ownAssets(import.meta.url, ...names) as [Page, Page, Page, Page];
  return {
    ...parts,
    /** The address in samples that are written before a request comes. */
    baseUrl,
    operations,
    calls: findExampleCalls(operations),
    /** Colours and type; the icon in the browser's tab; what pages for reading use; the header. */
    assets: { style, icon, prose, header },
  };
}

/** What the pages have in common. */
export type Site = ReturnType<typeof createSite>;

/**
 * The top of the reference and of GraphiQL, as HTML: links between the pages, and the form that takes the API key.
 * api-key-form.js gives it life, told how keys begin and which call tries one; its height is fixed, so that nothing below
 * moves when its state changes.
 */
export function siteHeader({ service, assets, calls, ...site }: Site, current: string): string {
  const link = (path: string, label: string) =>
    `<a href="${path.slice(1)}"${path === current ? ' aria-current="page"' : ''}>${label}</a>`;
  return `<header class="site-header">
<a class="site-name" href="./"><img src="${assets.icon.path.slice(1)}" alt="" width="26" height="26"><span>${escapeHtml(service.name)}</span></a>
<nav aria-label="Pages">${link(REFERENCE_PATH, 'REST reference')}${site.graphiql ? link(site.graphqlPath, 'GraphiQL') : ''}${link(site.openApiPath, 'openapi.json')}</nav>
<form id="key-form" autocomplete="off" data-state="needed" data-prefix="${KEY_PREFIX}" data-probe="${calls.list.path.slice(1)}?limit=1" novalidate>
<p id="key-message" role="status">Every call needs an API key.</p>
<span class="key-entry"><label for="key-input">API key</label>
<input id="key-input" type="password" placeholder="${KEY_PREFIX}…" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="key-message">
<button type="submit">Use key</button></span>
<span class="key-shown">Key <code></code> · <button type="button" data-action="change">change</button> · <button type="button" data-action="forget">forget</button></span>
</form>
</header>`;
}
