// Runs in the browser, before the bundle: takes the key, and starts GraphiQL once the bundle is there.

/** @typedef {{ tabs: { id: string, headers: string | null }[], activeTabIndex: number }} TabsState */
/** @typedef {{ uri: { path: string }, setValue(text: string): void }} Model */
/** @typedef {{ renderYogaGraphiQL(element: Element | null, options: object): void }} Bundle */

/** What the bundle puts into the global scope. */
const bundle = /** @type {{ YogaGraphiQL: Bundle, __MONACO?: { editor: { getModels(): Model[] } } }} */ (
  /** @type {unknown} */ (globalThis)
);

/** Stands in the header editor, and in storage, where the key would be. */
const PLACEHOLDER = '<API key>';
const KEPT_KEY = 'petstore-key';

const settings = JSON.parse(document.querySelector('#settings')?.textContent ?? '');
const bar = /** @type {HTMLFormElement} */ (document.querySelector('#key-bar'));
const fields = /** @type {{ key: HTMLInputElement, keep: HTMLInputElement }} */ (/** @type {unknown} */ (bar.elements));

let key = takeKeyFromAddress() ?? sessionStorage.getItem(KEPT_KEY) ?? '';
/** The key that was sent last, so that a refused one is not tried again and again. */
let tried = '';
let shownTab = '';

document.body.classList.add('scripted');
// https://github.com/microsoft/monaco-editor/blob/main/docs/integrate-esm.md: where Monaco finds its workers.
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: false,
    /** @param {string} _module @param {string} label */
    getWorkerUrl: (_module, label) => settings.workers[label] ?? settings.workers.editorWorkerService,
  },
});
addEventListener('DOMContentLoaded', start);
addEventListener('hashchange', () => useKey(takeKeyFromAddress() ?? ''));
bar.addEventListener('submit', (event) => {
  event.preventDefault();
  if (fields.keep.checked) sessionStorage.setItem(KEPT_KEY, fields.key.value.trim());
  useKey(fields.key.value.trim());
  bar.reset();
});

function start() {
  bundle.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#graphiql'), {
    title: '<a href="./" title="Petstore Gateway"><span>Petstore Graph<em>i</em>QL</span></a>',
    logo: `<img src="${document.querySelector('link[rel=icon]')?.getAttribute('href')}" alt="" width="24" height="24">`,
    defaultTabs: settings.tabs,
    defaultHeaders: headersWith(key || PLACEHOLDER),
    defaultEditorToolsVisibility: key ? 'variables' : 'headers',
    visiblePlugin: innerWidth > 1000 ? 'Documentation Explorer' : undefined,
    shouldPersistHeaders: false,
    storage: keylessStorage(),
    fetcher,
    onTabChange,
    onEditQuery() {}, // Yoga's own writes the query into the address
  });
}

/** A key travels in the fragment only, which no browser sends; it does not stay in the address bar either. */
function takeKeyFromAddress() {
  const sent = new URLSearchParams(location.hash.slice(1)).get('key');
  if (sent !== null) history.replaceState(null, '', location.pathname + location.search);
  return sent;
}

/** @param {string} token */
function headersWith(token) {
  return JSON.stringify({ Authorization: `Bearer ${token}` }, null, 2);
}

/** @param {string | null | undefined} authorization */
function tokenIn(authorization) {
  return /Bearer\s+([^"\s<]+)/i.exec(authorization ?? '')?.[1] ?? '';
}

/** GraphiQL keeps tabs and history in the browser, headers among them: a key is taken out before. */
function keylessStorage() {
  return {
    get length() {
      return localStorage.length;
    },
    clear: () => localStorage.clear(),
    getItem: (/** @type {string} */ name) => localStorage.getItem(name),
    removeItem: (/** @type {string} */ name) => localStorage.removeItem(name),
    setItem: (/** @type {string} */ name, /** @type {string} */ value) =>
      localStorage.setItem(name, value.replaceAll(/(Bearer\s+)[^"\\\s<]+/gi, `$1${PLACEHOLDER}`)),
  };
}

/** @param {{ query: string, operationName?: string }} params @param {{ headers?: Record<string, string> }} [options] */
async function fetcher(params, { headers = {} } = {}) {
  const token = tokenIn(Object.entries(headers).find(([name]) => /^authorization$/i.test(name))?.[1]);
  const isIntrospection = params.operationName === 'IntrospectionQuery';
  if (isIntrospection) tried = token;
  if (isIntrospection && !token) {
    bar.dataset.state = 'needed';
    return { errors: [{ message: 'An API key is needed: see above.' }] };
  }
  const response = await fetch(location.pathname, {
    method: 'POST',
    headers: {
      Accept: 'application/graphql-response+json, application/json',
      'Content-Type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(isNamedIn(params) ? params : { ...params, operationName: undefined }),
    credentials: 'omit',
  });
  if (response.status === 401) {
    bar.dataset.state = token ? 'refused' : 'needed';
    sessionStorage.removeItem(KEPT_KEY);
  } else if (token) {
    if (bar.dataset.state !== 'accepted') write('response.json', ''); // what the refusal before left there
    bar.dataset.state = 'accepted';
    key = token;
  }
  return response.json();
}

/**
 * For a moment after a change of tabs, GraphiQL still sends the name of the other tab's operation.
 * @param {{ query: string, operationName?: string }} params
 */
function isNamedIn({ query, operationName }) {
  return new RegExp(`\\b${operationName}\\b`).test(query);
}

/**
 * A key that was typed into the header editor is tried at once; a tab that has none yet gets the known one.
 * @param {TabsState} state
 */
function onTabChange({ tabs, activeTabIndex }) {
  const tab = tabs[activeTabIndex];
  if (!tab) return;
  const token = tokenIn(tab.headers);
  const isOtherTab = tab.id !== shownTab;
  shownTab = tab.id;
  if (isOtherTab && key && token !== key) queueMicrotask(() => write('request-headers.json', headersWith(key)));
  else if (token && token !== key && token !== tried && isJson(tab.headers)) queueMicrotask(fetchSchema);
}

/**
 * Whether somebody who types has come to an end.
 * @param {string | null} text
 */
function isJson(text) {
  try {
    return Boolean(JSON.parse(text ?? ''));
  } catch {
    return false;
  }
}

/** @param {string} given */
function useKey(given) {
  if (!given) return;
  key = given;
  write('request-headers.json', headersWith(given));
  fetchSchema();
}

/** @param {'request-headers.json' | 'response.json'} editor @param {string} text */
function write(editor, text) {
  // GraphiQL 5 offers no other way to its editors than Monaco, which it puts into the global scope.
  const models = bundle.__MONACO?.editor.getModels() ?? [];
  models.find((model) => model.uri.path.endsWith(editor))?.setValue(text);
}

function fetchSchema() {
  // GraphiQL's own shortcut for it.
  dispatchEvent(new KeyboardEvent('keydown', { key: 'R', ctrlKey: true, shiftKey: true }));
}
