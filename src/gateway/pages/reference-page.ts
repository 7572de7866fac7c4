import { longDay } from '../deprecations.ts';
import type { AnswerDescription, OperationDescription, ParameterDescription } from '../rest/operation-description.ts';
import { codeSamples, formatJson, requestOf } from './code-samples.js';
import { createGuides } from './guides.ts';
import { ADDRESS, capitalised, type Html, html, htmlFile, htmlPage, inline, type Page, VARIABLE } from './page.ts';
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

/** The parts of a JSON Schema that the page shows. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [bound: string]: unknown;
}

/** The section of an operation: description, fields, answers, samples and the place for the answer of a call. */
function operationSection(operation: OperationDescription): Html {
  const { operationId: id, method, path, deprecation, parameters, body, answers } = operation;
  const bodyText = body && formatJson(JSON.stringify(body.example ?? {}), '  ');
  const hasContent = answers[0]?.content !== undefined;
  // The initial text of a field: the default, else the example.
  const values = parameters.map((one) => ({ ...one, value: String(one.schema.default ?? one.example ?? '') }));
  const request = requestOf(method, ADDRESS, path, values, bodyText);
  return htmlFile('operation.html', {
    ID: id,
    METHOD: method,
    PATH: path,
    DATA_ANSWER: hasContent && html`data-answer="json"`,
    SUMMARY: operation.summary,
    BADGES: badges(operation),
    NOTICE:
      deprecation &&
      html`<p class="notice"><strong>Deprecated.</strong> ${inline(capitalised(deprecation.notice))} <a href="#deprecations">How to leave it</a></p>`,
    DESCRIPTION: inline(operation.description),
    PARAMETERS: values.length > 0 && html`<h3>Parameters</h3>${values.map((parameter) => field(id, parameter))}`,
    BODY: body && bodyText && bodyField(id, body.schema, bodyText),
    ANSWERS: answers.map((one, index) => answer(one, index === 0 ? '  ' : '')),
    SAMPLES: samples(id, codeSamples(request, VARIABLE, hasContent)),
  });
}

function badges({ stability, deprecation }: OperationDescription): readonly Html[] {
  const texts = [stability, deprecation && `deprecated · removal ${longDay(deprecation.sunset)}`];
  return texts.filter(Boolean).map((text) => html` <span class="badge">${text}</span>`);
}

function field(id: string, parameter: ParameterDescription & { readonly value: string }): Html {
  const { name, in: place, required, description = '', example, value } = parameter;
  const schema: Schema = parameter.schema;
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

function answer({ status, description, headers, content }: AnswerDescription, indent: string): Html {
  const names = headers.map((name, index) => [index > 0 && ' ', html`<code>${name}</code>`]);
  const example = content?.example === undefined ? '' : formatJson(JSON.stringify(content.example), indent);
  return html`<div class="answer"><h4><code>${status}</code> ${inline(description)}</h4>${names.length > 0 && html`<p class="kind">Headers: ${names}</p>`}${content && html`<pre>${example}</pre>`}</div>`;
}

/** Describes the schema of a leaf or an object in words: its type, its bounds and its default. */
function schemaInWords({ type = '', format, enum: words, pattern, ...schema }: Schema): string {
  const range = (least: unknown, most: unknown, unit = '') => {
    if (least === undefined) return most === undefined ? '' : `at most ${most}${unit}`;
    return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
  };
  // The bounds of int64 are left out: the type says them, and JavaScript numbers would round them.
  const isInt64 = format === 'int64';
  return [
    isInt64 ? '64-bit integer' : type,
    isInt64 ? '' : range(schema.minimum, schema.maximum),
    range(schema.minLength, schema.maxLength, ' characters'),
    pattern === undefined ? '' : `matches \`${pattern}\``,
    words ? `one of ${words.map((word) => `\`${word}\``).join(', ')}` : '',
    schema.default === undefined ? '' : `default \`${schema.default}\``,
  ]
    .filter((text) => text !== '')
    .join(' · ');
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
