import { longDay } from '../deprecations.ts';
import { codeSamples, formatJson, requestOf } from './code-samples.js';
import { createGuides } from './guides.ts';
import { type Html, html, htmlFile, inline } from './html.ts';
import { type Answer, type Operation, type Parameter, type Schema, schemaInWords } from './openapi-reader.ts';
import { ADDRESS, capitalised, htmlPage, type Page } from './page.ts';
import { VARIABLE } from './recipes.ts';
import { REFERENCE_PATH, type Site, siteHeader } from './site.ts';

/** The page of the reference. All text is readable without scripts; they make calls. */
export function createReferencePage(site: Site): Page {
  const { operations } = site;
  const { description } = site.service.api;
  const guides = createGuides(site);
  const content = site.fill('reference.html', {
    DESCRIPTION: description,
    HEADER: siteHeader(site, REFERENCE_PATH),
    LEAD: inline(description),
    GUIDE_LINKS: guides.map(({ id, title }) => html`<a href="#${id}">${title}</a>`),
    OPERATION_LINKS: operations.map(
      ({ method, operationId, summary }) =>
        html`<a href="#${operationId}">${summary} <span class="kind">${method}</span></a>`,
    ),
    GUIDES: guides.map(
      ({ id, title, text, code }) => html`<section id="${id}" aria-labelledby="${id}-title" class="columns">
<div><h2 id="${id}-title"><a href="#${id}">${title}</a></h2>${text}</div>
<div class="side">${typeof code === 'string' ? code && html`<pre>${code}</pre>` : samples(id, code)}</div>
</section>`,
    ),
    OPERATIONS: operations.map(operationSection),
  });
  return htmlPage(REFERENCE_PATH, { script: "'self'", connect: "'self'" }, content);
}

/** The section of an operation: description, fields, answers, samples and the place for the answer of a call. */
function operationSection(operation: Operation): Html {
  const { operationId: id, method, path, parameters, body, answers } = operation;
  const bodyText = body && formatJson(JSON.stringify(body.example ?? {}), '  ');
  const hasContent = answers[0]?.json !== undefined;
  const values = parameters.map((parameter) => ({ ...parameter, value: firstValue(parameter) }));
  const request = requestOf(method, ADDRESS, path, values, bodyText);
  const [text = '', notice = ''] = operation.description.split(/\s*Deprecated: /);
  return htmlFile('operation.html', {
    ID: id,
    METHOD: method,
    PATH: path,
    DATA_ANSWER: hasContent && html`data-answer="json"`,
    SUMMARY: operation.summary,
    BADGES: badges(operation),
    NOTICE:
      operation.deprecated &&
      html`<p class="notice"><strong>Deprecated.</strong> ${inline(capitalised(notice))} <a href="#deprecations">How to leave it</a></p>`,
    DESCRIPTION: inline(text),
    PARAMETERS: values.length > 0 && html`<h3>Parameters</h3>${values.map((parameter) => field(id, parameter))}`,
    BODY: body && bodyText && bodyField(id, body.schema, bodyText),
    ANSWERS: answers.map((one, index) => answer(one, index === 0 ? '  ' : '')),
    SAMPLES: samples(id, codeSamples(request, VARIABLE, hasContent)),
  });
}

function badges(operation: Operation): readonly Html[] {
  const sunset = operation['x-deprecated-sunset'];
  const removal = sunset ? ` · removal ${longDay(new Date(sunset))}` : '';
  const texts = [operation['x-stability'], operation.deprecated && `deprecated${removal}`];
  return texts.filter(Boolean).map((text) => html` <span class="badge">${text}</span>`);
}

/** The initial text of a field: the default, else the example of a required parameter, else the empty text. */
function firstValue({ required, schema, example }: Parameter): string {
  return String(schema.default ?? (required ? example : undefined) ?? '');
}

function field(id: string, parameter: Parameter & { readonly value: string }): Html {
  const { name, in: place, required, description = '', schema, example, value } = parameter;
  const hint = example === undefined ? 'not sent while empty' : `such as ${example}`;
  const names = html`id="${id}-${name}" name="${name}" data-in="${place}"`;
  const options = ['', ...(schema.enum ?? [])].map(
    (word) => html`<option value="${word}"${word === value && html` selected`}>${word || 'not sent'}</option>`,
  );
  return html`<div class="field">
<p><label for="${id}-${name}">${name}</label> <span class="kind">${place} · ${need(required)} · ${inline(schemaInWords(schema))}</span></p>
<p>${inline(description)}</p>
${schema.enum ? html`<select ${names}>${options}</select>` : html`<input ${names} value="${value}" placeholder="${hint}" spellcheck="false" autocapitalize="off">`}</div>`;
}

function bodyField(id: string, { description = '', properties = {}, required = [] }: Schema, text: string): Html {
  const rows = Object.entries(properties).map(
    ([name, property]) =>
      html`<dt><code>${name}</code> <span class="kind">${need(required.includes(name))} · ${inline(schemaInWords(property))}</span></dt><dd>${inline(property.description ?? '')}</dd>`,
  );
  return html`<h3>Body</h3>
<p>${inline(description)}</p><dl>${rows}</dl>
<label class="body-label" for="${id}-body">Body, sent as typed</label>
<textarea id="${id}-body" name="body" rows="${text.split('\n').length + 1}" spellcheck="false">${text}</textarea>`;
}

function need(isRequired = false): string {
  return isRequired ? 'required' : 'optional';
}

function answer({ status, description, headers, json }: Answer, indent: string): Html {
  const names = headers.map((name, index) => [index > 0 && ' ', html`<code>${name}</code>`]);
  const example = json?.example === undefined ? '' : formatJson(JSON.stringify(json.example), indent);
  return html`<div class="answer"><h4><code>${status}</code> ${inline(description)}</h4>${names.length > 0 && html`<p class="kind">Headers: ${names}</p>`}${json && html`<pre>${example}</pre>`}</div>`;
}

/** Code by language, of which one is shown. */
function samples(id: string, byLanguage: Readonly<Record<string, string>>): Html {
  const languages = Object.entries(byLanguage);
  const choices = languages.map(
    ([name], index) =>
      html`<label><input type="radio" name="${id}-language" value="${name}"${index === 0 && html` checked`}>${name}</label>`,
  );
  const texts = languages.map(([name, code]) => html`<pre data-language="${name}">${code}</pre>`);
  return html`<fieldset class="languages"><legend>Language of the sample</legend>${choices}<span class="copied" role="status"></span><button type="button" class="copy">Copy</button></fieldset>${texts}`;
}
