import { longDay } from '../deprecations.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { codeSamples, formatJson, keyVariable, requestOf } from './code-samples.js';
import * as openapi from './openapi-reader.ts';
import { capitalised, escapeHtml } from './page.ts';
import type { Site } from './site-parts.ts';

/** An operation of the document as a section of the reference: prose and fields, samples and the live answer. */
export function operationSection(
  { document, service, baseUrl }: Site,
  { method, path: shortPath, operation }: openapi.PlacedOperation,
): string {
  const { operationId: id, summary } = operation;
  const path = service.basePath + shortPath;
  const parameters = openapi.parametersOf(document, operation);
  const body = openapi.jsonOf(operation.requestBody);
  const bodyText = body && formatJson(JSON.stringify(body.example ?? {}), '  ');
  const type = resultType(document, operation);
  const values = parameters.map((parameter) => ({ ...parameter, value: firstValue(document, parameter) }));
  const request = requestOf(method, baseUrl, path, values, bodyText);
  const [text = '', notice] = operation.description.split(/\s*Deprecated: /);
  return `<section id="${id}" aria-labelledby="${id}-title">
<form class="columns operation" autocomplete="off" novalidate data-method="${method}" data-path="${path}"${type ? ` data-type="${escapeHtml(JSON.stringify(type))}"` : ''}>
<div>
<h2 id="${id}-title"><a href="#${id}">${escapeHtml(summary)}</a>${badges(operation)}</h2>
<p class="route"><b>${method}</b> <code>${escapeHtml(path)}</code></p>
${operation.deprecated ? `<p class="notice"><strong>Deprecated.</strong> ${inline(capitalised(notice ?? ''))}</p>` : ''}
<p>${inline(text)}</p>
${parameters.length === 0 ? '' : `<h3>Parameters</h3>${values.map((parameter) => field(document, id, parameter)).join('')}`}
${body && bodyText ? `<h3>Body</h3>${attributes(document, body.schema)}<label class="body-label" for="${id}-body">Body, sent as typed</label><textarea id="${id}-body" name="body" rows="${bodyText.split('\n').length + 1}" spellcheck="false">${escapeHtml(bodyText)}</textarea>` : ''}
<h3>Answers</h3>
${openapi
  .answersOf(document, operation)
  .map(([status, response], index) => answer(status, response, index === 0 ? '  ' : ''))
  .join('')}
</div>
<div class="side">${samples(id, codeSamples(request, keyVariable(KEY_PREFIX), type))}
<button type="submit">Send</button>
<div class="live" hidden><h3 tabindex="-1">Answer</h3><pre class="sent"></pre><p class="outcome" role="status"></p><pre class="received" tabindex="0" role="region" aria-label="Headers and body of the answer"></pre><button type="button" class="next" hidden>Next page</button></div>
</div>
</form>
</section>`;
}

/** The type of the JSON that a call gets; undefined where its answer has no content. */
function resultType(document: openapi.OpenApi, operation: openapi.Operation) {
  const result = openapi.resultOf(document, operation);
  if (!result) return undefined;
  return {
    name: openapi.typescriptType(document, result.schema),
    declaration: openapi.typescriptInterface(document, result.schema),
  };
}

/** Plain text with `code` in it, as HTML. */
export function inline(text: string): string {
  return escapeHtml(text).replaceAll(/&#96;([^&]*)&#96;|`([^`]*)`/g, '<code>$1$2</code>');
}

function badges(operation: openapi.Operation): string {
  const sunset = operation['x-deprecated-sunset'];
  const stability = operation['x-stability'];
  const texts = [
    stability,
    operation.deprecated && `deprecated${sunset ? ` · removal ${longDay(new Date(sunset))}` : ''}`,
  ];
  return texts.map((text) => (text ? ` <span class="badge">${escapeHtml(text)}</span>` : '')).join('');
}

/** What a field holds at first: the default or the example of a value that is needed; nothing where nothing is sent. */
function firstValue(document: openapi.OpenApi, { required, schema, example }: openapi.Parameter): string {
  const value = openapi.resolve<openapi.Schema>(document, schema).default ?? (required ? example : undefined);
  return value === undefined ? '' : String(value);
}

function field(document: openapi.OpenApi, id: string, parameter: openapi.Parameter & { value: string }): string {
  const { name, in: place, required, description = '', schema, example, value } = parameter;
  const { enum: words } = openapi.resolve<openapi.Schema>(document, schema);
  const words_ = words?.map((word) => `<option value="${escapeHtml(word)}">`).join('');
  const hint = example === undefined ? 'not sent while empty' : `such as ${example}`;
  return `<div class="field">
<p><label for="${id}-${name}">${escapeHtml(name)}</label> <span class="kind">${place} · ${required ? 'required' : 'optional'} · ${inline(openapi.schemaInWords(document, schema))}</span></p>
<p>${inline(description)}</p>
<input id="${id}-${name}" name="${name}" data-in="${place}" value="${escapeHtml(value)}" placeholder="${escapeHtml(hint)}"${words ? ` list="${id}-${name}-words"` : ''} spellcheck="false" autocapitalize="off">
${words_ ? `<datalist id="${id}-${name}-words">${words_}</datalist>` : ''}</div>`;
}

function attributes(document: openapi.OpenApi, part: Parameters<typeof openapi.resolve<openapi.Schema>>[1]): string {
  const { description = '', properties = {}, required = [] } = openapi.resolve<openapi.Schema>(document, part);
  const rows = Object.entries(properties).map(([name, property]) => {
    const words = `${required.includes(name) ? 'required' : 'optional'} · ${openapi.schemaInWords(document, property)}`;
    const text = openapi.resolve<openapi.Schema>(document, property).description ?? '';
    return `<dt><code>${escapeHtml(name)}</code> <span class="kind">${inline(words)}</span></dt><dd>${inline(text)}</dd>`;
  });
  return `<p>${inline(description)}</p><dl>${rows.join('')}</dl>`;
}

function answer(status: string, response: openapi.Response, indent: string): string {
  const content = openapi.jsonOf(response);
  const example = content?.example === undefined ? '' : formatJson(JSON.stringify(content.example), indent);
  const names = Object.keys(response.headers ?? {});
  const headers =
    names.length === 0 ? '' : `<p class="kind">Headers: ${names.map((name) => `<code>${name}</code>`).join(' ')}</p>`;
  return `<div class="answer"><h4><code>${status}</code> ${inline(response.description)}</h4>${headers}${content ? `<pre>${escapeHtml(example)}</pre>` : ''}</div>`;
}

function samples(id: string, byLanguage: Readonly<Record<string, string>>): string {
  const choices = Object.keys(byLanguage).map(
    (name, index) =>
      `<label><input type="radio" name="${id}-language" value="${name}"${index === 0 ? ' checked' : ''}>${name}</label>`,
  );
  const texts = Object.entries(byLanguage).map(
    ([name, code]) => `<pre data-language="${name}">${escapeHtml(code)}</pre>`,
  );
  return `<fieldset class="languages"><legend>Language of the sample</legend>${choices.join('')}<button type="button" class="copy">Copy</button></fieldset>${texts.join('')}`;
}
