import { GRAPHQL_PATH } from '../graphql/endpoint.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { OPENAPI_PATH } from '../rest/openapi.ts';
import { ownAssets, type Page, SITE_ICON } from './page.ts';

/** Where the REST reference is served. */
export const REFERENCE_PATH = '/docs';

/** What the header looks like. */
export const [HEADER_STYLE] = ownAssets(import.meta.url, 'site-header.css') as [Page];

/**
 * The top of the reference and of GraphiQL, as HTML: links between the pages, and the form that takes the API key.
 * api-key-form.js gives it life; its height is fixed, so that nothing below moves when its state changes.
 */
export function siteHeader(current: string, graphiql: boolean): string {
  const link = (path: string, label: string) =>
    `<a href="${path.slice(1)}"${path === current ? ' aria-current="page"' : ''}>${label}</a>`;
  return `<header class="site-header">
<a class="site-name" href="./"><img src="${SITE_ICON.path.slice(1)}" alt="" width="26" height="26"><span>Petstore Gateway</span></a>
<nav aria-label="Pages">${link(REFERENCE_PATH, 'REST reference')}${graphiql ? link(GRAPHQL_PATH, 'GraphiQL') : ''}${link(OPENAPI_PATH, 'openapi.json')}</nav>
<form id="key-form" autocomplete="off" data-state="needed" novalidate>
<p id="key-message" role="status">Every call needs an API key.</p>
<span class="key-entry"><label for="key-input">API key</label>
<input id="key-input" type="password" placeholder="${KEY_PREFIX}…" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="key-message">
<button type="submit">Use key</button></span>
<span class="key-shown">Key <code></code> · <button type="button" data-action="change">change</button> · <button type="button" data-action="forget">forget</button></span>
</form>
</header>`;
}
