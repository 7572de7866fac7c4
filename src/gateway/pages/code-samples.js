// Runs in the browser and in the server: the request of an operation, its code in three languages, formatted JSON.

/** @typedef {{ in: string, name: string, value: string }} Value a parameter with the text of its field */
/** @typedef {{ method: string, url: string, headers: string[][], body?: string }} ApiRequest without the key */

/**
 * The environment variable that samples read the key from.
 * @param {string} keyPrefix how keys begin
 */
export function keyVariable(keyPrefix) {
  return `${keyPrefix.toUpperCase()}KEY`;
}

/**
 * An address in characters that HTML, a shell and string literals need not escape. A Host may have others, such as `'`.
 * @param {string} address
 */
export function plainAddress(address) {
  return address.replaceAll(/[^\w:/.~[\]%-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

// The default methods: fetch and curl send GET; curl sends POST when there is a body.
const USUAL_METHOD = 'GET';
const USUAL_METHOD_WITH_BODY = 'POST';

/**
 * The request of an operation with the given values of its fields. Empty fields are not sent; others are sent as typed.
 * @param {string} method @param {string} base the address before the path @param {string} path with parameters in braces
 * @param {readonly Value[]} values @param {string} [body] @returns {ApiRequest}
 */
export function requestOf(method, base, path, values, body) {
  const of = (/** @type {string} */ kind) => values.filter(({ in: place, value }) => place === kind && value !== '');
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = of('path').find((candidate) => candidate.name === name)?.value ?? '';
    return encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'));
  });
  const query = new URLSearchParams(of('query').map(({ name, value }) => [name, value])).toString();
  const headers = of('header').map(({ name, value }) => [name, value]);
  const url = base + filled + (query && `?${query}`);
  return body === undefined
    ? { method, url, headers }
    : { method, url, headers: [...headers, ['Content-Type', 'application/json']], body };
}

/**
 * The request as code, by language. The code reads the key from an environment variable and keeps all digits of integers.
 * @param {ApiRequest} request @param {string} variable @param {boolean} hasContent whether the answer is JSON
 * @returns {Record<string, string>}
 */
export function codeSamples(request, variable, hasContent) {
  const text = request.body === undefined ? undefined : formatJson(request.body, '');
  const sent = text === undefined ? request : { ...request, body: text };
  return {
    curl: curlSample(sent, variable),
    JavaScript: `${javascriptCall(sent, variable)}${hasContent ? JAVASCRIPT_ANSWER : ''}`,
    Python: `${pythonCall(sent, variable)}${hasContent ? '\nprint(response.json())  # integers keep all their digits' : ''}`,
  };
}

/** @param {ApiRequest} request @param {string} variable */
function javascriptCall({ method, url, headers, body }, variable) {
  return `const response = await fetch(${quote(url)}, {${method === USUAL_METHOD ? '' : `\n  method: '${method}',`}
  headers: {
    Authorization: \`Bearer \${process.env.${variable}}\`,${headers.map(([header = '', value = '']) => `\n    '${header}': ${quote(value)},`).join('')}
  },${body === undefined ? '' : `\n  body: ${quote(body)},`}
});
if (!response.ok) throw new Error(await response.text());`;
}

/** A reviver in JavaScript that reads integers exactly. */
const EXACT = 'const exact = (key, value, { source }) => (/^-?\\d+$/.test(source) ? BigInt(source) : value);';

const JAVASCRIPT_ANSWER = `
// Ids have 64 bits: a number would round them, a BigInt does not.
${EXACT}
const answer = JSON.parse(await response.text(), exact);
console.log(answer);`;

/** @param {ApiRequest} request @param {string} variable */
function pythonCall({ method, url, headers, body }, variable) {
  return `import os
import requests

response = requests.request(
    '${method}',
    ${quote(url)},
    headers={
        'Authorization': f"Bearer {os.environ['${variable}']}",${headers.map(([header = '', value = '']) => `\n        '${header}': ${quote(value)},`).join('')}
    },${body === undefined ? '' : `\n    data=${quote(body)}.encode(),`}
    timeout=10,
)
response.raise_for_status()`;
}

/** The request for a shell. @param {ApiRequest} request @param {string} variable */
export function curlSample({ method, url, headers, body }, variable) {
  const usual = body === undefined ? USUAL_METHOD : USUAL_METHOD_WITH_BODY;
  return [
    `curl ${method === usual ? '' : `-X ${method} `}${shellQuote(url)}`,
    `-H "Authorization: Bearer $${variable}"`,
    ...headers.map(([header, value]) => `-H ${shellQuote(`${header}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${shellQuote(body)}`]),
  ].join(' \\\n  ');
}

/** A word of a shell. @param {string} text */
export function shellQuote(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A string literal for both JavaScript and Python. @param {string} text */
export function quote(text) {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/**
 * JSON with comments and trailing commas as JSON, with each value as it is written.
 * @param {string} text
 */
export function plainJson(text) {
  const withoutComments = text.replaceAll(/("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[\s\S]*?\*\//g, '$1');
  return withoutComments.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, '$1').trim();
}

/**
 * JSON on one line, or indented, with each value as it is written in `text`; text that is no JSON stays as it is.
 * @param {string} text @param {string} indent
 */
export function formatJson(text, indent) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const line = (/** @type {number} */ change) => {
    depth += change;
    return indent && `\n${indent.repeat(depth)}`;
  };
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|\s+|[{}[\],:]/g, (token) => {
    if (/^\s/.test(token)) return '';
    if (token === '{' || token === '[') return token + line(1);
    if (token === '}' || token === ']') return line(-1) + token;
    if (token === ',') return token + (line(0) || ' ');
    return token === ':' ? ': ' : token;
  });
}
