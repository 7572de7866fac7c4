// Runs in the browser: loads the bundle after the page has been painted, and gives GraphiQL the key of this tab.

import { currentKey, isKeyComing, keyPrefix, onKeyChange } from './api-key-form.js';
import { editorText, fetcher, headersWith, PLACEHOLDER, parsed, setEditorText, tokenIn } from './graphiql-calls.js';
import { safeStorage } from './safe-storage.js';

/** @typedef {{ id: string, query: string | null, variables: string | null, headers: string | null }} Tab */
/** @typedef {{ tabs: Tab[], activeTabIndex: number }} TabsState */
/** @typedef {{ renderYogaGraphiQL(element: Element | null, options: object): void }} Bundle */

const settings = JSON.parse(document.querySelector('#settings')?.textContent ?? '');
const root = /** @type {HTMLElement} */ (document.querySelector('#graphiql'));
const shared = takeSharedOperation();
// A shared link in the address bar of this page only changes the fragment: GraphiQL takes an operation at its start alone.
addEventListener('hashchange', () => fragment().has('query') && location.reload());
/** The last key from the header editor that was checked, so that a refused key is checked only once. */
let tried = '';
/** Keys that were forgotten or replaced: GraphiQL's tabs still have them, and a new tab has the key of the start. */
const formerKeys = new Set();
let shownTab = '';

// Tells Monaco where its workers are: https://github.com/microsoft/monaco-editor/blob/main/docs/integrate-esm.md
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: false,
    /** @param {string} _module @param {string} label */
    getWorkerUrl: (_module, label) => settings.bundle[`${label}-worker.js`] ?? settings.bundle['editor-worker.js'],
  },
});
// Monaco cancels paste events without content, which other pages do not; such an event is stopped before Monaco sees it.
document.addEventListener(
  'paste',
  (event) => event.clipboardData?.types.length || event.stopImmediatePropagation(),
  true,
);
// The bundle's icons have minified names as titles, which hide their correct labels. Its tabs have a button in them, to close
// them, which a tab may not have: they are shown to screen readers as a list of buttons.
new MutationObserver(() => {
  for (const title of root.querySelectorAll('svg > title')) title.remove();
  for (const item of root.querySelectorAll('.graphiql-tabs[role], .graphiql-tab[aria-selected]')) {
    item.removeAttribute('role');
    const button = item.querySelector('button');
    if (button && item.ariaSelected) button.ariaCurrent = item.ariaSelected;
    item.removeAttribute('aria-selected');
  }
}).observe(root, { childList: true, subtree: true, attributeFilter: ['aria-selected'] });
const WHOLE_KEY = new RegExp(`${keyPrefix}[0-9A-Za-z]{38}`, 'g');
const SIGNS = ['pointermove', 'pointerdown', 'touchstart', 'wheel', 'keydown', 'focusin', 'hashchange'];
const UNTOUCHED_MS = 6000;
// The bundle is five megabytes: with a key it is loaded at once, without one at the first input of a person.
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
  requestAnimationFrame(() => setTimeout(loadBundle)); // the timer runs after the next frame is painted
}

async function loadBundle() {
  const style = Object.assign(document.createElement('link'), {
    rel: 'stylesheet',
    href: settings.bundle['graphiql.css'],
  });
  const script = Object.assign(document.createElement('script'), { src: settings.bundle['graphiql.js'] });
  const loaded = [style, script].map(
    (element) =>
      new Promise((resolve, reject) => {
        element.addEventListener('load', resolve);
        element.addEventListener('error', reject);
      }),
  );
  document.head.prepend(style); // before this site's styles, which override it
  document.head.append(script);
  try {
    await Promise.all(loaded);
  } catch {
    const message = /** @type {HTMLElement} */ (root.querySelector('.loading'));
    message.textContent = 'GraphiQL could not be loaded: the gateway cannot be reached. Reload the page to try again.';
    return;
  }
  setTimeout(start); // in a task of its own: the evaluation of the bundle was a long one
}

function start() {
  const { YogaGraphiQL } = /** @type {{ YogaGraphiQL: Bundle }} */ (/** @type {unknown} */ (globalThis));
  let key = currentKey();
  YogaGraphiQL.renderYogaGraphiQL(root, {
    title: '<span>Graph<em>i</em>QL</span>',
    logo: '<span></span>',
    ...shared,
    defaultTabs: shared ? [shared, ...settings.tabs] : settings.tabs,
    defaultHeaders: headersWith(key || PLACEHOLDER),
    defaultEditorToolsVisibility: innerWidth > 720 && (key ? 'variables' : 'headers'),
    visiblePlugin: innerWidth > 1000 ? 'Documentation Explorer' : undefined,
    forcedTheme: 'system', // as the rest of the page
    shouldPersistHeaders: false,
    storage: keylessStorage(),
    fetcher,
    onTabChange,
    onEditQuery() {}, // Yoga's own handler writes the query into the address
  });
  onKeyChange((next) => {
    formerKeys.add(key).delete(next);
    key = next;
    setEditorText('request-headers.json', headersWith(next || PLACEHOLDER, editorText('request-headers.json')));
    if (next) fetchSchema();
  });
}

function fragment() {
  return new URLSearchParams(location.hash.slice(1));
}

/** The operation in the fragment of a shared link; browsers do not send fragments. */
function takeSharedOperation() {
  const given = fragment();
  const query = given.get('query');
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return { query, variables: given.get('variables') ?? '' };
}

/**
 * GraphiQL's storage. GraphiQL stores tabs and history with their headers; here keys are removed before. At its start it
 * opens the tab that has the stored query and variables, so these are read from the tab that was open.
 */
function keylessStorage() {
  const storage = safeStorage('localStorage');
  const openTab = () => {
    /** @type {Partial<TabsState>} */
    const { tabs, activeTabIndex = -1 } = parsed(storage.getItem('graphiql:tabState') ?? '') ?? {};
    return tabs?.[activeTabIndex];
  };
  return {
    get length() {
      return storage.length;
    },
    clear: storage.clear,
    getItem(/** @type {string} */ name) {
      if (name === 'graphiql:query') return openTab()?.query ?? null;
      if (name === 'graphiql:variables') return openTab()?.variables ?? null;
      if (name === 'graphiql:theme') return null; // the editors would keep it, whatever is forced
      return storage.getItem(name);
    },
    removeItem: storage.removeItem,
    setItem(/** @type {string} */ name, /** @type {string} */ value) {
      const masked = value.replaceAll(/(Bearer\s+)[^"\\\s<]+/gi, `$1${PLACEHOLDER}`);
      storage.setItem(name, masked.replaceAll(WHOLE_KEY, PLACEHOLDER)); // keys outside of headers too
    },
  };
}

/**
 * Checks a key that was typed into the header editor, and writes the known key into tabs without one.
 * @param {TabsState} state
 */
function onTabChange({ tabs, activeTabIndex }) {
  const tab = tabs[activeTabIndex];
  if (!tab) return;
  const key = currentKey();
  const found = tokenIn(tab.headers);
  const token = formerKeys.has(found) ? '' : found;
  const isOtherTab = tab.id !== shownTab;
  shownTab = tab.id;
  if (isOtherTab && (key ? token !== key : !token)) {
    queueMicrotask(() => setEditorText('request-headers.json', headersWith(key || PLACEHOLDER, tab.headers)));
  } else if (token && token !== key && token !== tried && parsed(tab.headers ?? '')) {
    tried = token; // the text is complete JSON, so the person has probably finished typing
    queueMicrotask(fetchSchema);
  }
}

function fetchSchema() {
  // GraphiQL's shortcut for this action.
  dispatchEvent(new KeyboardEvent('keydown', { key: 'R', ctrlKey: true, shiftKey: true }));
}
