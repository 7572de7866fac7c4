// Runs in the browser and in the server: a request, how it is written in four languages, and JSON as one reads it.

/** @typedef {{ in: string, name: string, value: string }} Value what stands in the field of a parameter */
/** @typedef {{ method: string, url: string, headers: string[][], body?: string }} ApiRequest without the key */
/** @typedef {{ name: string, declaration: string }} ResultType the answer, in TypeScript */

/**
 * The request that the values of an operation's fields make. Empty ones are not sent; the rest goes as it was typed.
 * @param {string} method @param {string} base the address before the path @param {string} path with parameters in braces
 * @param {readonly Value[]} values @param {string} [body] @returns {ApiRequest}
 */
export function requestOf(method, base, path, values, body) {
  const of = (/** @type {string} */ kind) => values.filter(({ in: place, value }) => place === kind && value !== '');
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = of('path').find((candidate) => candidate.name === name)?.value ?? '';
    return encodeURIComponent(value.toWellFormed());
  });
  const query = new URLSearchParams(of('query').map(({ name, value }) => [name, value])).toString();
  const headers = of('header').map(({ name, value }) => [name, value]);
  const url = base + filled + (query && `?${query}`);
  return body === undefined
    ? { method, url, headers }
    : { method, url, headers: [...headers, ['Content-Type', 'application/json']], body };
}

/**
 * The request as code, by language: the key is a variable, and integers keep all digits.
 * @param {ApiRequest} request @param {ResultType} result @returns {Record<string, string>}
 */
export function codeSamples({ method, url, headers, body }, { name, declaration }) {
  const text = body === undefined ? undefined : formatJson(body, '');
  const javascript = (/** @type {string} */ type, /** @type {string} */ reviver) => `${type}\
const response = await fetch(${quote(url)}, {${method === 'GET' ? '' : `\n  method: '${method}',`}
  headers: {
    Authorization: \`Bearer \${process.env.PETSTORE_KEY}\`,${headers.map(([header = '', value = '']) => `\n    '${header}': ${quote(value)},`).join('')}
  },${text === undefined ? '' : `\n  body: ${quote(text)},`}
});
if (!response.ok) throw new Error(await response.text());
// Ids have 64 bits: a number would round them, a BigInt does not.
${reviver}
`;
  return {
    curl: curlSample({ method, url, headers, ...(text !== undefined && { body: text }) }),
    JavaScript: `${javascript(
      '',
      `const exact = (key, value, { source }) => (/^-?\\d+$/.test(source) ? BigInt(source) : value);`,
    )}const answer = JSON.parse(await response.text(), exact);\nconsole.log(answer);`,
    TypeScript: `${javascript(
      `${declaration}\n\n`,
      `const exact = (_key: string, value: unknown, context?: { source: string }): unknown =>
  context && /^-?\\d+$/.test(context.source) ? BigInt(context.source) : value;`,
    )}const answer: ${name} = JSON.parse(await response.text(), exact);\nconsole.log(answer);`,
    Python: `import os
import requests

response = requests.request(
    '${method}',
    ${quote(url)},
    headers={
        'Authorization': f"Bearer {os.environ['PETSTORE_KEY']}",${headers.map(([header = '', value = '']) => `\n        '${header}': ${quote(value)},`).join('')}
    },${text === undefined ? '' : `\n    data=${quote(text)}.encode(),`}
    timeout=10,
)
response.raise_for_status()
print(response.json())  # integers keep all their digits`,
  };
}

/** The request for a shell. @param {ApiRequest} request */
export function curlSample({ method, url, headers, body }) {
  const shell = (/** @type {string} */ value) => `'${value.replaceAll("'", `'\\''`)}'`;
  return [
    `curl ${method === (body === undefined ? 'GET' : 'POST') ? '' : `-X ${method} `}${shell(url)}`,
    `-H "Authorization: Bearer $PETSTORE_KEY"`,
    ...headers.map(([header, value]) => `-H ${shell(`${header}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${shell(body)}`]),
  ].join(' \\\n  ');
}

/** A literal that JavaScript and Python read alike. @param {string} text */
function quote(text) {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/**
 * JSON on one line, or indented, with every character of its values as it came; other text as it stands.
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
