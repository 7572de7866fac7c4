// Runs in the browser: fetches the bundle once the page has been painted, and joins GraphiQL to the key of this tab.

import { currentKey, isKeyComing, keyPrefix, onKeyChange } from './api-key-form.js';
import { editorText, fetcher, headersWith, PLACEHOLDER, setEditorText, tokenIn } from './graphiql-calls.js';

/** @typedef {{ id: string, query: string | null, variables: string | null, headers: string | null }} Tab */
/** @typedef {{ tabs: Tab[], activeTabIndex: number }} TabsState */
/** @typedef {{ renderYogaGraphiQL(element: Element | null, options: object): void }} Bundle */

const settings = JSON.parse(document.querySelector('#settings')?.textContent ?? '');
const root = /** @type {HTMLElement} */ (document.querySelector('#graphiql'));
const shared = takeSharedOperation();
/** The key of a header editor that was tried last, so that a refused one is not tried again and again. */
let tried = '';
let shownTab = '';

// https://github.com/microsoft/monaco-editor/blob/main/docs/integrate-esm.md: where Monaco finds its workers.
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: false,
    /** @param {string} _module @param {string} label */
    getWorkerUrl: (_module, label) => settings.workers[label] ?? settings.workers.editorWorkerService,
  },
});
// Nothing to insert: without this, Monaco claims the event for itself, and pages are told apart by it.
document.addEventListener(
  'paste',
  (event) => event.clipboardData?.types.length || event.stopImmediatePropagation(),
  true,
);
// The bundle names icons by what minifying left of their names, over labels that are right.
new MutationObserver(() => {
  for (const title of root.querySelectorAll('svg > title')) title.remove();
}).observe(root, { childList: true, subtree: true });
const WHOLE_KEY = new RegExp(`${keyPrefix}[0-9A-Za-z]{38}`, 'g');
const SIGNS = ['pointermove', 'pointerdown', 'touchstart', 'wheel', 'keydown', 'focusin', 'hashchange'];
const UNTOUCHED_MS = 6000;
// Five megabytes of script: at once where there is a key to work with, else at the first sign of somebody.
if (currentKey() || shared || isKeyComing()) whenPainted();
else {
  const timer = setTimeout(whenPainted, UNTOUCHED_MS);
  const signs = new AbortController();
  for (const sign of SIGNS) {
    addEventListener(
      sign,
      () => {
        clearTimeout(timer);
        signs.abort();
        whenPainted();
      },
      { signal: signs.signal, passive: true },
    );
  }
}

function whenPainted() {
  requestAnimationFrame(() => setTimeout(loadBundle)); // a frame after the next, the page is on the screen
}

async function loadBundle() {
  const style = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: settings.style });
  const script = Object.assign(document.createElement('script'), { src: settings.script });
  const loaded = [style, script].map(
    (element) =>
      new Promise((resolve, reject) => {
        element.addEventListener('load', resolve);
        element.addEventListener('error', reject);
      }),
  );
  document.head.prepend(style); // before ours, which go on from it
  document.head.append(script);
  try {
    await Promise.all(loaded);
  } catch {
    const message = /** @type {HTMLElement} */ (root.querySelector('.loading'));
    message.textContent = 'GraphiQL could not be loaded: the gateway cannot be reached. Reload the page to try again.';
    return;
  }
  setTimeout(start); // not in one go with the evaluation of the bundle
}

function start() {
  const { YogaGraphiQL } = /** @type {{ YogaGraphiQL: Bundle }} */ (/** @type {unknown} */ (globalThis));
  const key = currentKey();
  YogaGraphiQL.renderYogaGraphiQL(root, {
    title: '<span>Graph<em>i</em>QL</span>',
    logo: '<span></span>',
    ...shared,
    defaultTabs: shared ? [shared, ...settings.tabs] : settings.tabs,
    defaultHeaders: headersWith(key || PLACEHOLDER),
    defaultEditorToolsVisibility: innerWidth > 720 && (key ? 'variables' : 'headers'),
    visiblePlugin: innerWidth > 1000 ? 'Documentation Explorer' : undefined,
    shouldPersistHeaders: false,
    storage: keylessStorage(),
    fetcher,
    onTabChange,
    onEditQuery() {}, // Yoga's own writes the query into the address
  });
  onKeyChange((next) => {
    setEditorText('request-headers.json', headersWith(next || PLACEHOLDER, editorText('request-headers.json')));
    if (next) fetchSchema();
  });
}

/** An operation that a share link carries, in the fragment, which no server sees. */
function takeSharedOperation() {
  const given = new URLSearchParams(location.hash.slice(1));
  const query = given.get('query');
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return { query, variables: given.get('variables') ?? '' };
}

/**
 * GraphiQL keeps tabs and history in the browser, headers among them: a key is taken out before. It opens the tab that
 * has the stored query and variables, and adds one where none has: they are those of the tab that was open.
 */
function keylessStorage() {
  const openTab = () => {
    try {
      /** @type {TabsState} */
      const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '');
      return tabs[activeTabIndex];
    } catch {
      return undefined;
    }
  };
  return {
    get length() {
      return localStorage.length;
    },
    clear: () => localStorage.clear(),
    getItem(/** @type {string} */ name) {
      if (name === 'graphiql:query') return openTab()?.query ?? null;
      if (name === 'graphiql:variables') return openTab()?.variables ?? null;
      return localStorage.getItem(name);
    },
    removeItem: (/** @type {string} */ name) => localStorage.removeItem(name),
    setItem(/** @type {string} */ name, /** @type {string} */ value) {
      const masked = value.replaceAll(/(Bearer\s+)[^"\\\s<]+/gi, `$1${PLACEHOLDER}`);
      localStorage.setItem(name, masked.replaceAll(WHOLE_KEY, PLACEHOLDER)); // also where no header was meant
    },
  };
}

/**
 * A key that was typed into the header editor is tried at once; a tab that has none yet gets the known one.
 * @param {TabsState} state
 */
function onTabChange({ tabs, activeTabIndex }) {
  const tab = tabs[activeTabIndex];
  if (!tab) return;
  const key = currentKey();
  const token = tokenIn(tab.headers);
  const isOtherTab = tab.id !== shownTab;
  shownTab = tab.id;
  if (isOtherTab && (key ? token !== key : !token)) {
    queueMicrotask(() => setEditorText('request-headers.json', headersWith(key || PLACEHOLDER, tab.headers)));
  } else if (token && token !== key && token !== tried && isJson(tab.headers)) {
    tried = token;
    queueMicrotask(fetchSchema);
  }
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

function fetchSchema() {
  // GraphiQL's own shortcut for it.
  dispatchEvent(new KeyboardEvent('keydown', { key: 'R', ctrlKey: true, shiftKey: true }));
}
