import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { OPENAPI_PATH } from '../rest/openapi.ts';
import { keyBar } from './key-bar.ts';
import { htmlPage, ownAssets, type Page, versionedAsset } from './page.ts';

/** Where the REST reference is served. */
export const REFERENCE_PATH = '/docs';

/** The REST reference: Swagger UI from its own package, with the badges and code samples that it does not know. */
export function createReferencePage(): readonly Page[] {
  const modules = ownAssets(import.meta.url, 'reference-page.js', 'reference-plugin.js', 'code-samples.js');
  const styles = [
    viewerFile('swagger-ui.css'),
    ...ownAssets(import.meta.url, 'reference-page.css', 'reference-parts.css'),
  ];
  const scripts = [viewerFile('swagger-ui-bundle.js')];
  const parts = { title: 'REST reference · Petstore Gateway', styles, modules, scripts, body: BODY };
  return [htmlPage(REFERENCE_PATH, parts, PERMISSIONS), ...styles, ...modules, ...scripts];
}

// Swagger UI's icons are data: addresses; its style attributes are set by scripts, which needs no permission.
const PERMISSIONS = { script: "'self'", img: "'self' data:", connect: "'self'" };

const BODY = `${keyBar('“Execute” sends it.')}
<header class="site-header"><a href="./">Petstore Gateway</a><a href="${OPENAPI_PATH.slice(1)}">openapi.json</a></header>
<main id="reference" data-description="${OPENAPI_PATH.slice(1)}"><p class="loading">Loading the reference …</p></main>
<noscript><p class="loading">The reference needs JavaScript. <a href="${OPENAPI_PATH.slice(1)}">The OpenAPI document</a> does not.</p></noscript>`;

function viewerFile(name: string): Page {
  const locate = (file: string) => new URL(import.meta.resolve(`swagger-ui-dist/${file}`));
  const { version } = JSON.parse(readFileSync(locate('package.json'), 'utf8')) as { version: string };
  return versionedAsset(name, version, () => readFile(locate(name)));
}
