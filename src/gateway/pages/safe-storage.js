// Runs in the browser: storage that browsers may block or that may be full. Then nothing is stored, and nothing throws.

/** @param {'localStorage' | 'sessionStorage'} kind */
export function safeStorage(kind) {
  /** @template Result @param {(storage: Storage) => Result} use @param {Result} otherwise */
  const attempt = (use, otherwise) => {
    try {
      return use(globalThis[kind]); // blocked, the property itself throws
    } catch {
      return otherwise;
    }
  };
  return {
    get length() {
      return attempt((storage) => storage.length, 0);
    },
    getItem: (/** @type {string} */ name) => attempt((storage) => storage.getItem(name), null),
    setItem: (/** @type {string} */ name, /** @type {string} */ text) =>
      attempt((storage) => storage.setItem(name, text), undefined),
    removeItem: (/** @type {string} */ name) => attempt((storage) => storage.removeItem(name), undefined),
    clear: () => attempt((storage) => storage.clear(), undefined),
  };
}
