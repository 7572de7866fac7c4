import { operationsOf } from './openapi-reader.ts';
import { escapeHtml, htmlPage, ownAssets, type Page } from './page.ts';
import { createGuides, type Guide } from './reference-guides.ts';
import { inline, operationSection } from './reference-operation.ts';
import { REFERENCE_PATH, siteHeader } from './site-header.ts';
import type { Site } from './site-parts.ts';

/**
 * The REST reference, and the assets of its own: written here from the OpenAPI document, complete without a script; scripts
 * try calls.
 */
export function createReferencePage(site: Site): readonly Page[] {
  const assets = ownAssets(
    import.meta.url,
    'reference-calls.css',
    'reference-page.css',
    'reference-page.js',
    'api-key-form.js',
    'code-samples.js',
  );
  const [calls, style, ...modules] = assets as [Page, Page, ...Page[]];
  const parts = {
    title: `REST reference · ${site.service.name}`,
    description: site.document.info.description,
    icon: site.assets.icon,
    styles: [site.assets.style, site.assets.prose, site.assets.header, calls, style],
    modules,
    body: siteHeader(site, REFERENCE_PATH) + body(site),
  };
  return [htmlPage(REFERENCE_PATH, parts, { script: "'self'", connect: "'self'" }), ...assets];
}

function body(site: Site): string {
  const { document, baseUrl } = site;
  const operations = operationsOf(document);
  const guides = createGuides(site);
  const links = operations.map(
    ({ method, operation: { operationId, summary } }) =>
      `<a href="#${operationId}">${escapeHtml(summary)} <span class="kind">${method}</span></a>`,
  );
  return `<div class="reference">
<nav class="contents" aria-label="Contents"><h2>Guides</h2>${guides.map(({ id, title }) => `<a href="#${id}">${title}</a>`).join('')}<h2>Operations</h2>${links.join('')}</nav>
<main>
<div class="columns"><div><h1>REST reference</h1><p class="lead">${inline(document.info.description)}</p></div><div class="side"><p class="base">Base address</p><pre class="base-url">${escapeHtml(baseUrl)}</pre><p class="kind">Generate a client from <a href="${site.openApiPath.slice(1)}">openapi.json</a> (OpenAPI 3.1).</p></div></div>
${guides.map(guideSection).join('\n')}
${operations.map((placed) => operationSection(site, placed)).join('\n')}
</main>
</div>`;
}

function guideSection({ id, title, text, example }: Guide): string {
  return `<section id="${id}" aria-labelledby="${id}-title" class="columns"><div><h2 id="${id}-title"><a href="#${id}">${title}</a></h2>${text}</div><div class="side"><pre>${escapeHtml(example)}</pre></div></section>`;
}
