// Runs in the browser: how an operation of the OpenAPI document is called, as code.

/** @import { Operation, Parameter } from './swagger-ui.js' */

/** Stands where the caller's key belongs. */
const KEY = 'YOUR_API_KEY';

/**
 * The samples of one operation by language.
 * @param {string} base the address that paths are below, without a trailing slash
 * @param {string} method @param {string} path @param {Operation} operation
 */
export function codeSamples(base, method, path, operation) {
  const url = base + exampleTarget(path, operation.parameters ?? []);
  const body = operation.requestBody?.content['application/json']?.example;
  return [
    { title: 'curl', language: 'bash', code: curlSample(url, body) },
    { title: 'JavaScript', language: 'javascript', code: javascriptSample(url, method.toUpperCase(), body) },
  ];
}

/** @param {string} path @param {readonly Parameter[]} parameters */
function exampleTarget(path, parameters) {
  const exampleOf = (/** @type {string} */ name) => parameters.find((parameter) => parameter.name === name)?.example;
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => String(exampleOf(name) ?? name));
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => [name, String(schema?.default ?? schema?.enum?.[0] ?? '')])
    .filter(([, value]) => value !== '');
  return query.length > 0 ? `${filled}?${new URLSearchParams(query)}` : filled;
}

/** @param {string} url @param {unknown} body */
function curlSample(url, body) {
  const lines = [`curl '${url}'`, `-H 'Authorization: Bearer ${KEY}'`];
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`);
  }
  return lines.join(' \\\n  ');
}

/** @param {string} url @param {string} method @param {unknown} body */
function javascriptSample(url, method, body) {
  const authorization = `Authorization: 'Bearer ${KEY}'`;
  const options =
    body === undefined
      ? `  headers: { ${authorization} },`
      : `  method: '${method}',
  headers: {
    ${authorization},
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`;
  return `const response = await fetch('${url}', {
${options}
});
if (!response.ok) throw new Error((await response.json()).message);
console.log(await response.json());`;
}
