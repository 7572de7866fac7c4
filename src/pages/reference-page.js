// Runs in the browser: starts Swagger UI once its bundle is there, and gives it the key.

/** @import { Operation, SwaggerUi, SwaggerUiBundle } from './swagger-ui.js' */

import { gatewayPlugin } from './reference-plugin.js';

const KEPT_KEY = 'petstore-key';
const root = /** @type {HTMLElement} */ (document.querySelector('#reference'));
const bar = /** @type {HTMLFormElement} */ (document.querySelector('#key-bar'));
const fields = /** @type {{ key: HTMLInputElement, keep: HTMLInputElement }} */ (/** @type {unknown} */ (bar.elements));
const dark = matchMedia('(prefers-color-scheme: dark)');

document.body.classList.add('scripted');
dark.addEventListener('change', followColours);
followColours();
addEventListener('DOMContentLoaded', start);

// Swagger UI's own dark colours hang on this class.
function followColours() {
  document.documentElement.classList.toggle('dark-mode', dark.matches);
}

async function start() {
  const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle: SwaggerUiBundle }} */ (/** @type {unknown} */ (globalThis));
  const description = await (await fetch(root.dataset.description ?? '')).json();
  // "Execute" calls the server that the page comes from, whatever addresses the document names.
  const base = new URL('v1', document.baseURI).href;
  const ui = SwaggerUIBundle({
    domNode: root,
    spec: withNotices({ ...description, servers: [{ url: base }] }),
    plugins: [gatewayPlugin(base)],
    deepLinking: true,
    docExpansion: 'list',
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: -1,
    persistAuthorization: false,
    validatorUrl: null,
    responseInterceptor: watchKey,
  });
  bar.dataset.state = 'needed';
  bar.addEventListener('submit', (event) => {
    event.preventDefault();
    useKey(ui, fields.key.value.trim(), fields.keep.checked);
  });
  const kept = sessionStorage.getItem(KEPT_KEY);
  if (kept) await useKey(ui, kept, true);
}

/**
 * What a description says of the deprecation is taken out of it, to be shown apart.
 * @param {{ paths: Record<string, Record<string, Operation>> }} description
 */
function withNotices(description) {
  for (const operation of Object.values(description.paths).flatMap((path) => Object.values(path))) {
    const [text = '', notice] = (operation.description ?? '').split('Deprecated: ');
    if (notice)
      Object.assign(operation, { description: text, 'x-notice': notice.replace(/^./, (first) => first.toUpperCase()) });
  }
  return description;
}

/**
 * A key is tried before it is used; it is kept only if the visitor chose that, and only in this tab.
 * @param {SwaggerUi} ui @param {string} key @param {boolean} keep
 */
async function useKey(ui, key, keep) {
  const { status } = await fetch('v1/pets?limit=1', {
    headers: { Authorization: `Bearer ${key}` },
    credentials: 'omit',
  });
  bar.dataset.state = status === 401 ? 'refused' : 'accepted';
  if (status === 401) return sessionStorage.removeItem(KEPT_KEY);
  if (keep) sessionStorage.setItem(KEPT_KEY, key);
  bar.reset();
  ui.preauthorizeApiKey('bearerAuth', key);
}

/** @param {{ status: number }} response */
function watchKey(response) {
  if (response.status === 401) bar.dataset.state = bar.dataset.state === 'accepted' ? 'refused' : 'needed';
  return response;
}
