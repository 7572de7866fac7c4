// Runs in the browser: the API key of this tab. It is stored in the tab's session storage and never in the address.

const CHECK_MS = 10_000;
const MESSAGES = {
  needed: 'Every call needs an API key.',
  checking: 'Checking the key …',
  refused: 'This key was refused: it is unknown, expired or revoked.',
  away: 'The gateway cannot be reached; the key was not checked.',
  accepted: 'Kept in this tab only.',
};

const form = /** @type {HTMLFormElement} */ (document.querySelector('#key-form'));
const { prefix = '', probe = '' } = form.dataset;
const KEY = new RegExp(`\\b${prefix}\\w+`);
const STORED_AS = `${prefix}key`;
const input = /** @type {HTMLInputElement} */ (form.querySelector('input'));
/** @type {((key: string) => void)[]} */
const listeners = [];
let key = '';
let checks = 0;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void useKey(input.value); // shows its own errors
});
form.addEventListener('click', ({ target }) => {
  const action = target instanceof HTMLElement ? target.dataset.action : undefined;
  if (action === 'forget') setKey('');
  if (!action) return;
  show('needed');
  input.value = '';
  input.focus();
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && key) show('accepted');
});
addEventListener('hashchange', takeKeyFromAddress);
if (!takeKeyFromAddress()) {
  key = sessionStorage.getItem(STORED_AS) ?? '';
  if (key) show('accepted');
}

/** The beginning of every key. */
export const keyPrefix = prefix;

/** The key for calls; empty when there is none. */
export function currentKey() {
  return key;
}

/** Whether a key from the address is being checked. */
export function isKeyComing() {
  return form.dataset.state === 'checking';
}

/** Finds the key in a text. @param {string} text */
export function keyIn(text) {
  return KEY.exec(text)?.[0];
}

/** @param {string} full */
export function maskedKey(full) {
  return `${full.slice(0, prefix.length + 4)}…`;
}

/**
 * Calls `listener` at each change of the key, with the new key; it is empty when the key was removed.
 * @param {(key: string) => void} listener
 */
export function onKeyChange(listener) {
  listeners.push(listener);
}

/**
 * Notes that a call with the key `used` was answered with `status`; 401 means that the key is not valid.
 * @param {string} used @param {number} status
 */
export function noteAnswer(used, status) {
  if (status !== 401) return used && used !== key ? setKey(used) : undefined;
  if (!used) return show('needed');
  if (used === key) setKey('');
  show('refused');
  input.value = used; // so that the person can correct it
}

/**
 * Checks the key in a text by a call and stores it, unless the answer is 401.
 * @param {string} text
 */
export async function useKey(text) {
  const given = keyIn(text) ?? text.trim().replace(/^(?:Authorization:\s*)?Bearer\s+/i, '');
  if (!given) return show('needed');
  if (!/^[\x21-\x7e]+$/.test(given)) return noteAnswer(given, 401); // characters that a header cannot have
  show('checking');
  checks += 1;
  const check = checks;
  const isOvertaken = () => check !== checks;
  try {
    const { status } = await fetch(probe, {
      headers: { Authorization: `Bearer ${given}` },
      credentials: 'omit',
      signal: AbortSignal.timeout(CHECK_MS),
    });
    if (isOvertaken()) return;
    if (status === 401) return noteAnswer(given, status);
    setKey(given);
  } catch {
    if (isOvertaken()) return;
    setKey(given);
    show('away');
  }
}

/** Takes a key from the fragment of the address, which browsers do not send, and removes it from the address bar. */
function takeKeyFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get('key');
  if (given === null) return false;
  history.replaceState(null, '', location.pathname + location.search);
  void useKey(given);
  return true;
}

/** @param {string} next */
function setKey(next) {
  key = next;
  if (key) sessionStorage.setItem(STORED_AS, key);
  else sessionStorage.removeItem(STORED_AS);
  input.value = '';
  show(key ? 'accepted' : 'needed');
  for (const listener of listeners) listener(key);
}

/** @param {keyof typeof MESSAGES} state */
function show(state) {
  form.dataset.state = state;
  input.type = state === 'refused' ? 'text' : 'password';
  input.ariaInvalid = String(state === 'refused');
  /** @type {HTMLElement} */ (form.querySelector('#key-message')).textContent = MESSAGES[state];
  /** @type {HTMLElement} */ (form.querySelector('code')).textContent = key && maskedKey(key);
}
