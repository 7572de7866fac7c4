import { OPENAPI_PATH, openApiDocument } from '../rest/openapi.ts';
import type { OpenApi } from './openapi-reader.ts';
import { escapeHtml, htmlPage, ownAssets, type Page, PROSE_STYLE } from './page.ts';
import { createGuides, type Guide } from './reference-guides.ts';
import { inline, operationSection } from './reference-operation.ts';
import { HEADER_STYLE, REFERENCE_PATH, siteHeader } from './site-header.ts';

/** What the reference depends on. */
export interface ReferenceParts {
  /** Whether GraphiQL is served. */
  readonly graphiql: boolean;
  readonly publicUrl: string | undefined;
}

// Where nobody said which address the gateway has, the script puts in that of the page.
const USUAL_URL = 'http://127.0.0.1:4000';
const ASSETS = ownAssets(
  import.meta.url,
  'reference-calls.css',
  'reference-page.css',
  'reference-page.js',
  'api-key-form.js',
  'code-samples.js',
);

/** The REST reference: written here from the OpenAPI document, complete without a script; scripts try calls. */
export function createReferencePage({ graphiql, publicUrl = USUAL_URL }: ReferenceParts): readonly Page[] {
  const [calls, style, ...modules] = ASSETS as [Page, Page, ...Page[]];
  const document = openApiDocument(publicUrl) as unknown as OpenApi; // as openapi.ts makes it
  const parts = {
    title: 'REST reference · Petstore Gateway',
    description: document.info.description,
    styles: [PROSE_STYLE, HEADER_STYLE, calls, style],
    modules,
    body: siteHeader(REFERENCE_PATH, graphiql) + body(document, publicUrl),
  };
  return [htmlPage(REFERENCE_PATH, parts, { script: "'self'", connect: "'self'" }), HEADER_STYLE, ...ASSETS];
}

function body(document: OpenApi, baseUrl: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const guides = createGuides(baseUrl);
  const links = operations.map(
    ({ method, operation: { operationId, summary } }) =>
      `<a href="#${operationId}">${escapeHtml(summary)} <span class="kind">${method}</span></a>`,
  );
  return `<div class="reference">
<nav class="contents" aria-label="Contents"><h2>Guides</h2>${guides.map(({ id, title }) => `<a href="#${id}">${title}</a>`).join('')}<h2>Operations</h2>${links.join('')}</nav>
<main>
<div class="columns"><div><h1>REST reference</h1><p class="lead">${inline(document.info.description)}</p></div><div class="side"><p class="base">Base address</p><pre class="base-url">${escapeHtml(baseUrl)}</pre><p class="kind">Generate a client from <a href="${OPENAPI_PATH.slice(1)}">openapi.json</a> (OpenAPI 3.1).</p></div></div>
${guides.map(guideSection).join('\n')}
${operations.map(({ path, method, operation }) => operationSection(document, baseUrl, path, method, operation)).join('\n')}
</main>
</div>`;
}

function guideSection({ id, title, text, example }: Guide): string {
  return `<section id="${id}" aria-labelledby="${id}-title" class="columns"><div><h2 id="${id}-title"><a href="#${id}">${title}</a></h2>${text}</div><div class="side"><pre>${escapeHtml(example)}</pre></div></section>`;
}
