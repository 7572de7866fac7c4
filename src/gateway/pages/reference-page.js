// Runs in the browser: updates the samples when fields change, and makes the call when "Send" is pressed.

import { currentKey, keyPrefix, maskedKey, noteAnswer } from './api-key-form.js';
import { ANSWER_MS, callFailure } from './call-failure.js';
import { codeSamples, formatJson, keyVariable, plainAddress, requestOf } from './code-samples.js';
import { copyText } from './copy-text.js';
import { safeStorage } from './safe-storage.js';

const LANGUAGE = `${keyPrefix}language`;
const base = plainAddress(new URL('.', document.baseURI).href.replace(/\/$/, ''));
const storage = safeStorage('localStorage');

// Behind a proxy the gateway may know itself by another address.
const written = part(document, '.base-url').textContent ?? '';
for (const text of written === base ? [] : document.querySelectorAll('main pre')) {
  text.textContent = (text.textContent ?? '').replaceAll(written, base);
}
for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll('form.operation'))) {
  form.addEventListener('input', () => showSamples(form));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form); // shows its own errors
  });
  part(form, '.next').addEventListener('click', ({ currentTarget }) => {
    if (part(form, '[type=submit]').ariaDisabled) return;
    const { address = '' } = /** @type {HTMLElement} */ (currentTarget).dataset;
    // Only the query of the address is used, so that the key is never sent to another host.
    const { searchParams } = new URL(address, base);
    for (const field of fieldsOf(form)) {
      if (field.dataset.in === 'query') field.value = searchParams.get(field.name) ?? '';
    }
    showSamples(form);
    void send(form); // shows its own errors
  });
}
for (const button of document.querySelectorAll('.copy')) {
  button.addEventListener('click', () => copySample(/** @type {Element} */ (button.closest('.side'))));
}
document.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.type === 'radio') chooseLanguage(target.value);
});
chooseLanguage(storage.getItem(LANGUAGE) ?? 'curl');

/** @param {ParentNode} parent @param {string} selector */
function part(parent, selector) {
  return /** @type {HTMLElement} */ (parent.querySelector(selector)); // every operation has these elements
}

/** @param {HTMLFormElement} form @returns {NodeListOf<HTMLInputElement | HTMLSelectElement>} */
function fieldsOf(form) {
  return form.querySelectorAll('[data-in]');
}

/** @param {HTMLFormElement} form */
function readRequest(form) {
  const { method = '', path = '' } = form.dataset;
  const values = [...fieldsOf(form)].map(({ name, value, dataset }) => ({ in: dataset.in ?? '', name, value }));
  return requestOf(method, base, path, values, form.querySelector('textarea')?.value);
}

/** @param {HTMLFormElement} form */
function showSamples(form) {
  const samples = codeSamples(readRequest(form), keyVariable(keyPrefix), form.dataset.answer === 'json');
  for (const [language, code] of Object.entries(samples)) part(form, `[data-language=${language}]`).textContent = code;
  part(form, '.copied').textContent = '';
}

/** @param {Element} side the column of a sample */
function copySample(side) {
  const { value } = /** @type {HTMLInputElement} */ (part(side, '.languages :checked'));
  const code = part(side, `[data-language=${value}]`).textContent ?? '';
  for (const earlier of document.querySelectorAll('.copied')) earlier.textContent = '';
  void copyText(code, part(side, '.copied'), 'Copied'); // shows its own errors
}

/** @param {string} language */
function chooseLanguage(language) {
  for (const radio of document.querySelectorAll(`.languages input[value=${CSS.escape(language)}]`)) {
    /** @type {HTMLInputElement} */ (radio).checked = true;
  }
  storage.setItem(LANGUAGE, language);
}

/** @param {HTMLFormElement} form @param {string} [address] of the next page, if there is one */
function showNext(form, address = '') {
  const next = part(form, '.next');
  // The focus stays in the answer: https://www.w3.org/TR/WCAG22/#focus-order
  if (!address && document.activeElement === next) part(form, '.live h3').focus();
  next.hidden = !address;
  next.dataset.address = address;
}

/**
 * Makes the call of an operation, unless its last one is under way: what is sent twice would be added twice.
 * @param {HTMLFormElement} form
 */
async function send(form) {
  const button = part(form, '[type=submit]');
  if (button.ariaDisabled) return;
  const { method, url, headers, body } = readRequest(form);
  const key = currentKey();
  const show = (/** @type {string} */ selector, /** @type {string} */ text) => {
    part(form, selector).textContent = text;
  };
  const sentHeaders = key ? [['Authorization', `Bearer ${key}`], ...headers] : headers;
  const lines = sentHeaders.map(
    ([name, value]) => `${name}: ${name === 'Authorization' ? `Bearer ${maskedKey(key)}` : value}`,
  );
  show('.sent', [`${method} ${new URL(url).href}`, ...lines, ...(body === undefined ? [] : ['', body])].join('\n'));
  show('.outcome', 'Waiting for the answer …');
  show('.received', '');
  part(form, '.live').hidden = false;
  button.ariaDisabled = 'true'; // unlike `disabled`, it leaves the focus where it is
  const started = performance.now();
  const [left, top] = [scrollX, scrollY];
  try {
    const init = {
      method,
      headers: /** @type {[string, string][]} */ (sentHeaders),
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body !== undefined && { body }),
    };
    const response = await fetch(url, { ...init, credentials: 'omit', redirect: 'error' });
    const text = await response.text();
    show('.outcome', `${response.status} ${response.statusText} · ${Math.round(performance.now() - started)} ms`);
    const received = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    show('.received', [...received, ...(text === '' ? [] : ['', formatJson(text, '  ')])].join('\n'));
    const [, next] = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(response.headers.get('Link') ?? '') ?? [];
    showNext(form, next);
    noteAnswer(key, response.status, text, started);
  } catch (error) {
    show('.outcome', callFailure(error));
    showNext(form);
  } finally {
    button.ariaDisabled = null;
    // Not where the person has gone on meanwhile.
    if (scrollX === left && scrollY === top) part(form, '.live').scrollIntoView({ block: 'nearest' });
  }
}
