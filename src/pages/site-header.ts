import { KEY_PREFIX } from '../key-mask.ts';
import { escapeHtml } from './page.ts';
import type { Site } from './site-parts.ts';

/** Where the REST reference is served. */
export const REFERENCE_PATH = '/docs';

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
