// Runs in the browser: the calls of GraphiQL, and the bar below it, which shows the last call.

import { currentKey, keyIn, keyPrefix, noteAnswer } from './api-key-form.js';
import { ANSWER_MS, callFailure } from './call-failure.js';
import { curlSample, formatJson, keyVariable, plainJson } from './code-samples.js';
import { copyText } from './copy-text.js';

/** @typedef {{ query: string, operationName?: string, variables?: unknown }} Params */
/** @typedef {{ uri: { path: string }, getValue(): string, setValue(text: string): void }} Model */

/** Replaces the key in the header editor and in storage. */
export const PLACEHOLDER = '<API key>';
const bar = /** @type {HTMLElement} */ (document.querySelector('.call-bar'));
const outcome = /** @type {HTMLElement} */ (bar.querySelector('[role=status]'));
const received = /** @type {HTMLElement} */ (bar.querySelector('pre'));
/**
 * The names of the operations that ran last, by their documents.
 * @type {Map<string, string | undefined>}
 */
const namesRun = new Map();

bar.addEventListener('click', ({ target }) => {
  const action = target instanceof HTMLElement ? target.dataset.action : undefined;
  // It shows its own errors.
  if (action === 'curl') void copyText(asCurl(), outcome, 'The curl command was copied, without the key.');
  if (action === 'link') void copyText(asLink(), outcome, 'The link was copied, without the key.');
});

/** @param {string} editor the end of its model's name @returns {Model | undefined} */
function modelOf(editor) {
  // GraphiQL 5 gives access to its editors only by Monaco's global variable.
  const { __MONACO } = /** @type {{ __MONACO?: { editor: { getModels(): Model[] } } }} */ (
    /** @type {unknown} */ (globalThis)
  );
  return __MONACO?.editor.getModels().find((model) => model.uri.path.endsWith(editor));
}

/** @param {string} editor */
export function editorText(editor) {
  return modelOf(editor)?.getValue() ?? '';
}

/** @param {string} editor @param {string} text */
export function setEditorText(editor, text) {
  modelOf(editor)?.setValue(text);
}

/**
 * The headers of a tab, as JSON, with `token` as the key; the other headers stay.
 * @param {string} token @param {string | null} [text]
 */
export function headersWith(token, text) {
  const others = Object.fromEntries(withoutKey(readHeaders(text)));
  return JSON.stringify({ Authorization: `Bearer ${token}`, ...others }, null, 2);
}

/** @param {Record<string, string>} headers */
function withoutKey(headers) {
  return Object.entries(headers).filter(([name]) => !isAuthorization(name));
}

/** @param {string} name */
function isAuthorization(name) {
  return name.toLowerCase() === 'authorization';
}

/** @param {string | null} [text] @returns {Record<string, string>} */
function readHeaders(text) {
  return parsed(plainJson(text ?? '')) ?? {};
}

/** @param {string | null | undefined} authorization */
export function tokenIn(authorization) {
  const text = authorization ?? '';
  return keyIn(text) ?? /Bearer\s+([^"\s<]+)/i.exec(text)?.[1] ?? '';
}

/**
 * Sends an operation of GraphiQL, with the key in the header editor or else the key of this browser tab.
 * @param {Params} params @param {{ headers?: Record<string, string> }} [options]
 */
export async function fetcher(params, { headers = {} } = {}) {
  const token = tokenIn(Object.entries(headers).find(([name]) => isAuthorization(name))?.[1]) || currentKey();
  if (params.operationName === 'IntrospectionQuery' && !token) return failure('An API key is needed: see above.');
  const { query, variables } = params;
  // Just after a change of tabs, GraphiQL still sends the name of the other tab's operation.
  const isNamed = new RegExp(`\\b${params.operationName}\\b`).test(query);
  const operationName = isNamed ? params.operationName : undefined;
  namesRun.set(query, operationName);
  const started = performance.now();
  try {
    const response = await fetch(location.pathname, {
      method: 'POST',
      headers: {
        Accept: 'application/graphql-response+json, application/json',
        'Content-Type': 'application/json',
        ...Object.fromEntries(withoutKey(headers)),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: bodyOf(query, operationName, variables ? editorText('variables.json') : ''),
      credentials: 'omit',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const text = await response.text();
    outcome.textContent = `${response.status} ${response.statusText} · ${Math.round(performance.now() - started)} ms`;
    received.textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    noteAnswer(token, response.status, text, started);
    return parsed(text) ?? failure(`The answer is no JSON: ${`${response.status} ${response.statusText}`.trim()}.`);
  } catch (error) {
    const message = callFailure(error);
    outcome.textContent = message;
    received.textContent = '';
    return failure(message);
  }
}

/** The value of a JSON text; undefined for another text. @param {string} text */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {string} message */
function failure(message) {
  return { errors: [{ message }] };
}

/**
 * The body of a request. The variables are the text of their editor: GraphiQL's own ones have lost digits of long integers.
 * @param {string} query @param {string | undefined} operationName @param {string} variables JSON with comments
 */
function bodyOf(query, operationName, variables) {
  const plain = plainJson(variables);
  const name = operationName && `,"operationName":${JSON.stringify(operationName)}`;
  return `{"query":${JSON.stringify(query)}${name ?? ''}${plain && `,"variables":${plain}`}}`;
}

/** The first named operation of a document. @param {string} query */
function firstNameIn(query) {
  const code = query.replaceAll(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#.*/g, '');
  return /\b(?:query|mutation)\s+(\w+)/.exec(code)?.[1];
}

function asCurl() {
  const query = editorText('operation.graphql');
  const headers = withoutKey(readHeaders(editorText('request-headers.json')));
  const request = {
    method: 'POST',
    url: new URL(location.pathname, location.href).href,
    headers: [['Content-Type', 'application/json'], ...headers],
    body: formatJson(bodyOf(query, namesRun.get(query) ?? firstNameIn(query), editorText('variables.json')), ''),
  };
  return curlSample(request, keyVariable(keyPrefix));
}

function asLink() {
  const parts = { query: editorText('operation.graphql'), variables: editorText('variables.json') };
  return `${new URL(location.pathname, location.href).href}#${new URLSearchParams(parts)}`;
}
