import { type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { makeOnce } from '../make-once.ts';
import type { Tab } from '../service.ts';
import type { BundlePiece, CompressedBundle } from './graphiql-bundle.ts';
import { escapeHtml, htmlPage, ownAssets, type Page, versionedAsset } from './page.ts';
import { siteHeader } from './site-header.ts';
import type { Site } from './site-parts.ts';

/**
 * GraphiQL for browsers, at the path of GraphQL: a small page and, beside it, the pieces of the bundle that
 * @graphql-yoga/render-graphiql would write into one large page. Nothing is read before somebody opens it.
 */
export function createGraphiql(site: Site): readonly Page[] {
  const { service, graphqlPath } = site;
  const readPiece = createBundleReader();
  const version = bundleVersion();
  const piece = (name: BundlePiece): Page => ({
    ...versionedAsset(name, version, () => readPiece(name)),
    isCompressed: true,
  });
  const bundle = { script: piece('graphiql.js'), style: piece('graphiql.css') };
  const assets = ownAssets(
    import.meta.url,
    'graphiql-page.css',
    'graphiql-narrow.css',
    'graphiql-page.js',
    'graphiql-calls.js',
    'api-key-form.js',
    'code-samples.js',
  );
  const [style, narrow, ...modules] = assets as [Page, Page, ...Page[]];
  const workers = {
    editorWorkerService: piece('editor-worker.js'),
    json: piece('json-worker.js'),
    graphql: piece('graphql-worker.js'),
  };
  const addresses = (pages: Readonly<Record<string, Page>>) =>
    Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, page.path.slice(1)]));
  const known = service.resources.flatMap(({ tabs = [] }) => tabs);
  const tabs = known.length > 0 ? known : [{ query: service.sampleQuery }];
  const parts = {
    title: `GraphiQL · ${service.name}`,
    description: `Write and run GraphQL operations on ${service.keeps}.`,
    icon: site.assets.icon,
    styles: [site.assets.style, site.assets.header, style, narrow],
    modules,
    body: body(site, { tabs, workers: addresses(workers), ...addresses(bundle) }),
  };
  const page = htmlPage(graphqlPath, parts, PERMISSIONS);
  return [{ ...page, sharesPath: true }, ...assets, ...Object.values(bundle), ...Object.values(workers)];
}

// Monaco writes style elements and style attributes, without a way to give them a nonce; scripts are external only.
const PERMISSIONS = {
  script: "'self'",
  style: "'self' 'unsafe-inline'",
  font: 'data:',
  img: "'self' data:",
  connect: "'self'",
  worker: "'self'",
};

/** Where GraphiQL will be, its first tab is there to be read. */
function body(site: Site, settings: { readonly tabs: readonly Tab[]; readonly [name: string]: unknown }): string {
  return `${siteHeader(site, site.graphqlPath)}
<main id="graphiql"><h1>GraphiQL</h1>
<pre>${escapeHtml(settings.tabs[0]?.query ?? '')}</pre>
<p class="loading">Loading the editor …</p>
<noscript><p>GraphiQL needs JavaScript. <a href="./">The overview</a> does not.</p></noscript></main>
<footer class="call-bar"><p role="status">No call yet.</p>
<details><summary>Headers</summary><pre></pre></details>
<button type="button" data-action="curl">Copy as curl</button><button type="button" data-action="link">Copy link</button></footer>
<script type="application/json" id="settings">${JSON.stringify(settings).replaceAll('<', '\\u003c')}</script>`;
}

function bundleVersion(): string {
  const file = new URL(import.meta.resolve('@graphql-yoga/render-graphiql/package.json'));
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
  // What graphiql-bundle.ts makes of the package belongs to the content too.
  return `${name}@${version} ${readFileSync(new URL('graphiql-bundle.ts', import.meta.url), 'utf8')}`;
}

/** Reads the bundle once, when its first piece is asked for. */
function createBundleReader(): (name: BundlePiece) => Promise<Buffer> {
  const bundle = makeOnce(readBundle);
  return async (name) => {
    const piece = (await bundle()).get(name);
    if (!piece) throw new Error(`The GraphiQL bundle has no ${name}`);
    return piece;
  };
}

async function readBundle(): Promise<CompressedBundle> {
  // Maps and bytes as they are; no environment, whose secrets it does not need, and none of our flags.
  const options: ForkOptions = { serialization: 'advanced', env: {}, execArgv: [] };
  const reader = fork(new URL('graphiql-bundle.ts', import.meta.url), options);
  // The channel closes when all that was sent has been read, or when the process is no more.
  const nothing = once(reader, 'disconnect').then(() => Promise.reject(new Error('graphiql-bundle.ts sent nothing')));
  const [compressed] = (await Promise.race([once(reader, 'message'), nothing])) as [CompressedBundle]; // what it sends
  return compressed;
}
