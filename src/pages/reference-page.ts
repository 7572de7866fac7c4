import { escapeHtml, htmlPage, ownAssets, type Page } from './page.ts';
import { createGuides } from './reference-guides.ts';
import { inline, operationSection } from './reference-operation.ts';
import { REFERENCE_PATH, type Site, siteHeader } from './site.ts';

/** The REST reference, complete without a script, and its own assets: the scripts try calls. */
export function createReferencePage(site: Site): readonly Page[] {
  const names = [
    'reference-calls.css',
    'reference-page.css',
    'reference-page.js',
    'api-key-form.js',
    'code-samples.js',
  ];
  const assets = ownAssets(import.meta.url, ...names);
  const page = htmlPage(
    REFERENCE_PATH,
    { script: "'self'", connect: "'self'" },
    {
      title: `REST reference · ${site.service.name}`,
      description: site.service.api.description,
      icon: site.assets.icon,
      styles: [site.assets.style, site.assets.prose, site.assets.header, ...assets.slice(0, 2)],
      modules: assets.slice(2),
      body: siteHeader(site, REFERENCE_PATH) + body(site),
    },
  );
  return [page, ...assets];
}

function body(site: Site): string {
  const { service, operations, baseUrl } = site;
  const guides = createGuides(site);
  const guideLinks = guides.map(({ id, title }) => `<a href="#${id}">${title}</a>`);
  const links = operations.map(
    ({ method, operationId, summary }) =>
      `<a href="#${operationId}">${escapeHtml(summary)} <span class="kind">${method}</span></a>`,
  );
  const sections = guides.map(
    ({ id, title, text, example }) =>
      `<section id="${id}" aria-labelledby="${id}-title" class="columns"><div><h2 id="${id}-title"><a href="#${id}">${title}</a></h2>${text}</div><div class="side"><pre>${escapeHtml(example)}</pre></div></section>`,
  );
  return `<div class="reference">
<nav class="contents" aria-label="Contents"><h2>Guides</h2>${guideLinks.join('')}<h2>Operations</h2>${links.join('')}</nav>
<main>
<div class="columns"><div><h1>REST reference</h1><p class="lead">${inline(service.api.description)}</p></div><div class="side"><p class="base">Base address</p><pre class="base-url">${escapeHtml(baseUrl)}</pre><p class="kind">Generate a client from <a href="${site.openApiPath.slice(1)}">openapi.json</a> (OpenAPI 3.1).</p></div></div>
${sections.join('\n')}
${operations.map((operation) => operationSection(operation, baseUrl)).join('\n')}
</main>
</div>`;
}
