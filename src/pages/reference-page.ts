import { longDay } from '../deprecations.ts';
import { KEY_PREFIX } from '../key-mask.ts';
import { codeSamples, formatJson, keyVariable, requestOf } from './code-samples.js';
import { type Answer, type Operation, type Parameter, type Schema, schemaInWords } from './openapi-reader.ts';
import { ADDRESS, capitalised, escapeHtml, htmlPage, inline, ownAssets, type Page } from './page.ts';
import { createGuides } from './reference-guides.ts';
import { REFERENCE_PATH, SHARED_SCRIPTS, type Site, siteHeader } from './site.ts';

/** The page of the reference and its assets. All text is readable without scripts; they make calls. */
export function createReferencePage(site: Site): readonly Page[] {
  const names = ['reference-calls.css', 'reference-page.css', 'reference-page.js'];
  const assets = ownAssets(import.meta.url, ...names, ...SHARED_SCRIPTS);
  const page = htmlPage(REFERENCE_PATH, { script: "'self'", connect: "'self'" }, () => ({
    title: `Reference · ${site.service.name}`,
    description: site.service.api.description,
    icon: site.assets.icon,
    styles: [site.assets.style, site.assets.prose, site.assets.header, ...assets.slice(0, 2)],
    modules: assets.slice(2),
    body: siteHeader(site, REFERENCE_PATH) + body(site),
  }));
  return [{ ...page, addressOf: site.addressOf }, ...assets];
}

function body(site: Site): string {
  const { service, operations } = site;
  const guides = createGuides(site);
  const guideLinks = guides.map(({ id, title }) => `<a href="#${id}">${title}</a>`);
  const links = operations.map(
    ({ method, operationId, summary }) =>
      `<a href="#${operationId}">${escapeHtml(summary)} <span class="kind">${method}</span></a>`,
  );
  const sections = guides.map(
    ({ id, title, text, code }) =>
      `<section id="${id}" aria-labelledby="${id}-title" class="columns"><div><h2 id="${id}-title"><a href="#${id}">${title}</a></h2>${text}</div><div class="side">${typeof code === 'string' ? code && `<pre>${escapeHtml(code)}</pre>` : samples(id, code)}</div></section>`,
  );
  return `<div class="reference">
<nav class="contents" aria-label="Contents"><h2>Guides</h2>${guideLinks.join('')}<h2>Operations</h2>${links.join('')}</nav>
<main>
<div class="columns"><div><h1>Reference</h1><p class="lead">${inline(service.api.description)}</p></div><div class="side"><p class="base">Base address</p><pre class="base-url">${ADDRESS}</pre><p class="kind">Generate a client from <a href="${site.openApiPath.slice(1)}">openapi.json</a> (OpenAPI 3.1) or <a href="${site.sdlPath.slice(1)}">${site.sdlPath.slice(1)}</a> (GraphQL).</p></div></div>
${sections.join('\n')}
${operations.map(operationSection).join('\n')}
</main>
</div>`;
}

/** The section of an operation: description, fields, answers, samples and the place for the answer of a call. */
function operationSection(operation: Operation): string {
  const { operationId: id, method, path, parameters, body, answers } = operation;
  const bodyText = body && formatJson(JSON.stringify(body.example ?? {}), '  ');
  const hasContent = answers[0]?.json !== undefined;
  const values = parameters.map((parameter) => ({ ...parameter, value: firstValue(parameter) }));
  const request = requestOf(method, ADDRESS, path, values, bodyText);
  const [text = '', notice = ''] = operation.description.split(/\s*Deprecated: /);
  return `<section id="${id}" aria-labelledby="${id}-title">
<form class="columns operation" autocomplete="off" novalidate data-method="${method}" data-path="${path}"${hasContent ? ' data-answer="json"' : ''}>
<div>
<h2 id="${id}-title"><a href="#${id}">${escapeHtml(operation.summary)}</a>${badges(operation)}</h2>
<p class="route"><b>${method}</b> <code>${escapeHtml(path)}</code></p>
${operation.deprecated ? `<p class="notice"><strong>Deprecated.</strong> ${inline(capitalised(notice))} <a href="#deprecations">How to leave it</a></p>` : ''}
<p>${inline(text)}</p>
${parameters.length === 0 ? '' : `<h3>Parameters</h3>${values.map((parameter) => field(id, parameter)).join('')}`}
${body && bodyText ? `<h3>Body</h3>${attributes(body.schema)}<label class="body-label" for="${id}-body">Body, sent as typed</label><textarea id="${id}-body" name="body" rows="${bodyText.split('\n').length + 1}" spellcheck="false">${escapeHtml(bodyText)}</textarea>` : ''}
<h3>Answers</h3>
${answers.map((one, index) => answer(one, index === 0 ? '  ' : '')).join('')}
</div>
<div class="side">${samples(id, codeSamples(request, keyVariable(KEY_PREFIX), hasContent))}
<button type="submit">Send</button>
<div class="live" hidden><h3 tabindex="-1">Answer</h3><pre class="sent"></pre><p class="outcome" role="status"></p><pre class="received" tabindex="0" role="region" aria-label="Headers and body of the answer"></pre><button type="button" class="next" hidden>Next page</button></div>
</div>
</form>
</section>`;
}

function badges(operation: Operation): string {
  const sunset = operation['x-deprecated-sunset'];
  const removal = sunset ? ` · removal ${longDay(new Date(sunset))}` : '';
  return [operation['x-stability'], operation.deprecated && `deprecated${removal}`]
    .map((text) => (text ? ` <span class="badge">${escapeHtml(text)}</span>` : ''))
    .join('');
}

/** The initial text of a field: the default, else the example of a required parameter, else the empty text. */
function firstValue({ required, schema, example }: Parameter): string {
  return String(schema.default ?? (required ? example : undefined) ?? '');
}

function field(id: string, parameter: Parameter & { readonly value: string }): string {
  const { name, in: place, required, description = '', schema, example, value } = parameter;
  const options = schema.enum?.map((word) => `<option value="${escapeHtml(word)}">`).join('');
  const hint = example === undefined ? 'not sent while empty' : `such as ${example}`;
  return `<div class="field">
<p><label for="${id}-${name}">${escapeHtml(name)}</label> <span class="kind">${place} · ${required ? 'required' : 'optional'} · ${inline(schemaInWords(schema))}</span></p>
<p>${inline(description)}</p>
<input id="${id}-${name}" name="${name}" data-in="${place}" value="${escapeHtml(value)}" placeholder="${escapeHtml(hint)}"${options ? ` list="${id}-${name}-words"` : ''} spellcheck="false" autocapitalize="off">
${options ? `<datalist id="${id}-${name}-words">${options}</datalist>` : ''}</div>`;
}

function attributes({ description = '', properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, property]) => {
    const words = `${required.includes(name) ? 'required' : 'optional'} · ${schemaInWords(property)}`;
    return `<dt><code>${escapeHtml(name)}</code> <span class="kind">${inline(words)}</span></dt><dd>${inline(property.description ?? '')}</dd>`;
  });
  return `<p>${inline(description)}</p><dl>${rows.join('')}</dl>`;
}

function answer({ status, description, headers, json }: Answer, indent: string): string {
  const names = headers.map((name) => `<code>${name}</code>`).join(' ');
  const example = json?.example === undefined ? '' : formatJson(JSON.stringify(json.example), indent);
  return `<div class="answer"><h4><code>${status}</code> ${inline(description)}</h4>${names && `<p class="kind">Headers: ${names}</p>`}${json ? `<pre>${escapeHtml(example)}</pre>` : ''}</div>`;
}

/** Code by language, of which one is shown. */
function samples(id: string, byLanguage: Readonly<Record<string, string>>): string {
  const languages = Object.entries(byLanguage);
  const choices = languages.map(
    ([name], index) =>
      `<label><input type="radio" name="${id}-language" value="${name}"${index === 0 ? ' checked' : ''}>${name}</label>`,
  );
  const texts = languages.map(([name, code]) => `<pre data-language="${name}">${escapeHtml(code)}</pre>`);
  return `<fieldset class="languages"><legend>Language of the sample</legend>${choices.join('')}<span class="copied" role="status"></span><button type="button" class="copy">Copy</button></fieldset>${texts.join('')}`;
}
