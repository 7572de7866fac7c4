// Runs in the browser: the API key of this tab. It is stored in the tab's session storage and never in the address.

import { safeStorage } from './safe-storage.js';

const CHECK_MS = 10_000;
const MESSAGES = {
  needed: 'Every call needs an API key.',
  checking: 'Checking the key …',
  refused: 'This key was refused. ',
  away: 'The gateway cannot be reached; the key was not checked.',
  accepted: 'Kept in this tab only.',
};

const form = /** @type {HTMLFormElement} */ (document.querySelector('#key-form'));
const { prefix = '', probe = '' } = form.dataset;
const KEY = new RegExp(`\\b${prefix}\\w+`);
const STORED_AS = `${prefix}key`;
const input = /** @type {HTMLInputElement} */ (form.querySelector('input'));
const storage = safeStorage('sessionStorage');
/** @type {((key: string) => void)[]} */
const listeners = [];
let key = '';
/** Whether the storage has what `key` is; where it is blocked or full, it has not. */
let isStored = true;
let checks = 0;
/** When the key changed last, by `performance.now()`. */
let changedAt = 0;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void useKey(input.value); // shows its own errors
});
form.addEventListener('click', ({ target }) => {
  const action = target instanceof HTMLElement ? target.dataset.action : undefined;
  if (!action) return;
  checks += 1; // a check that is under way is no longer wanted
  if (action === 'forget') setKey('');
  show('needed');
  input.value = '';
  input.focus();
});
form.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !key) return;
  checks += 1; // a check that is under way is no longer wanted
  show('accepted');
});
addEventListener('hashchange', takeKeyFromAddress);
// The Back button may show this page as it was, though the key was forgotten or replaced on another page since.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && isStored && storedKey() !== key) setKey(storedKey());
});
key = storedKey();
if (!takeKeyFromAddress() && key) show('accepted');

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
 * Notes that a call with the key `used`, made at `started`, was answered with `status`; 401 means that the key is not valid,
 * and `body` says why.
 * @param {string} used @param {number} status @param {string} body @param {number} [started] by `performance.now()`
 */
export function noteAnswer(used, status, body, started = performance.now()) {
  if (used !== key && started < changedAt) return; // the person has forgotten or replaced that key since
  if (status !== 401) return used && (used !== key || form.dataset.state === 'away') ? setKey(used) : undefined;
  if (!used) return show('needed');
  if (used === key) setKey('');
  refuse(used, messageIn(body));
}

/** @param {string} used @param {string} reason */
function refuse(used, reason) {
  show('refused', reason);
  input.value = used; // so that the person can correct it
}

/** The message of a refusal by either API. @param {string} body @returns {string} */
function messageIn(body) {
  try {
    const { message, errors } = JSON.parse(body);
    return message ?? errors[0].message;
  } catch {
    return ''; // not an answer of the gateway
  }
}

/**
 * Checks the key in a text by a call and stores it, unless the answer is 401.
 * @param {string} text
 */
async function useKey(text) {
  const given = keyIn(text) ?? text.trim().replace(/^(?:Authorization:\s*)?Bearer\s+/i, '');
  if (!given) return show('needed');
  if (!/^[\x21-\x7e]+$/.test(given)) return refuse(given, 'It has characters that no key has.');
  show('checking');
  checks += 1;
  const check = checks;
  const isOvertaken = () => check !== checks;
  try {
    const response = await fetch(probe, {
      headers: { Authorization: `Bearer ${given}` },
      credentials: 'omit',
      signal: AbortSignal.timeout(CHECK_MS),
    });
    const body = await response.text();
    if (isOvertaken()) return;
    if (response.status === 401) return noteAnswer(given, response.status, body);
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

function storedKey() {
  return storage.getItem(STORED_AS) ?? '';
}

/** @param {string} next */
function setKey(next) {
  key = next;
  changedAt = performance.now();
  if (key) storage.setItem(STORED_AS, key);
  else storage.removeItem(STORED_AS);
  isStored = storedKey() === key;
  input.value = '';
  show(key ? 'accepted' : 'needed');
  for (const listener of listeners) listener(key);
}

/** @param {keyof typeof MESSAGES} state @param {string} [reason] */
function show(state, reason = '') {
  form.dataset.state = state;
  input.type = state === 'refused' ? 'text' : 'password';
  input.ariaInvalid = String(state === 'refused');
  const message = /** @type {HTMLElement} */ (form.querySelector('#key-message'));
  message.textContent = MESSAGES[state] + reason;
  const isOver = getComputedStyle(message).position === 'absolute';
  document.documentElement.style.setProperty('--message', `${isOver ? message.offsetHeight : 0}px`);
  /** @type {HTMLElement} */ (form.querySelector('code')).textContent = key && maskedKey(key);
}
