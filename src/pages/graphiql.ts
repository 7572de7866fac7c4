import { type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { makeOnce } from '../make-once.ts';
import type { CompressedBundle } from './graphiql-bundle.ts';
import { escapeHtml, htmlPage, ownAssets, type Page, versionedAsset } from './page.ts';
import { SHARED_SCRIPTS, type Site, siteHeader } from './site.ts';

// Monaco, the editor, writes style elements and attributes and offers no nonce for them. All scripts are files.
const PERMISSIONS = {
  script: "'self'",
  style: "'self' 'unsafe-inline'",
  font: 'data:',
  img: "'self' data:",
  connect: "'self'",
  worker: "'self'",
};

/**
 * The GraphiQL page at the path of GraphQL, and its assets. @graphql-yoga/render-graphiql would write its bundle into
 * one large page; here the page is small and the files of the bundle are assets. The first request for one of them
 * loads the bundle.
 */
export function createGraphiql({ service, graphqlPath, ...site }: Site): readonly Page[] {
  const bundle = makeOnce(readBundle);
  const version = bundleVersion();
  const piece = (name: keyof CompressedBundle): Page => ({
    ...versionedAsset(name, version, async () => (await bundle())[name]),
    isCompressed: true,
  });
  const pieces = {
    script: piece('graphiql.js'),
    style: piece('graphiql.css'),
    editorWorkerService: piece('editor-worker.js'),
    json: piece('json-worker.js'),
    graphql: piece('graphql-worker.js'),
  };
  const names = ['graphiql-page.css', 'graphiql-narrow.css', 'graphiql-page.js', 'graphiql-calls.js'];
  const assets = ownAssets(import.meta.url, ...names, ...SHARED_SCRIPTS);
  const known = service.resources.flatMap(({ tabs = [] }) => tabs);
  const tabs = known.length > 0 ? known : [{ query: service.firstCalls.graphql }];
  const { script, style, ...workers } = Object.fromEntries(
    Object.entries(pieces).map(([name, { path }]) => [name, path.slice(1)]),
  );
  const settings = JSON.stringify({ tabs, workers, script, style }).replaceAll('<', '\\u003c');
  // Until GraphiQL has loaded, its place shows the query of its first tab.
  const body = `${siteHeader({ service, graphqlPath, ...site }, graphqlPath)}
<main><h1>GraphiQL</h1>
<div id="graphiql"><pre>${escapeHtml(tabs[0]?.query ?? '')}</pre>
<p class="loading">Loading the editor …</p>
<noscript><p>GraphiQL needs JavaScript. <a href="./">The overview</a> does not.</p></noscript></div></main>
<footer class="call-bar"><p role="status">No call yet.</p>
<details><summary>Headers</summary><pre></pre></details>
<button type="button" data-action="curl">Copy as curl</button><button type="button" data-action="link">Copy link</button></footer>
<script type="application/json" id="settings">${settings}</script>`;
  const page = htmlPage(graphqlPath, PERMISSIONS, () => ({
    title: `GraphiQL · ${service.name}`,
    description: `Write and run GraphQL operations on ${service.keeps}.`,
    icon: site.assets.icon,
    styles: [site.assets.style, site.assets.header, ...assets.slice(0, 2)],
    modules: assets.slice(2),
    body,
  }));
  return [{ ...page, sharesPath: true }, ...assets, ...Object.values(pieces)];
}

function bundleVersion(): string {
  const file = new URL(import.meta.resolve('@graphql-yoga/render-graphiql/package.json'));
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
  // The content also depends on the code of graphiql-bundle.ts.
  return `${name}@${version} ${readFileSync(new URL('graphiql-bundle.ts', import.meta.url), 'utf8')}`;
}

async function readBundle(): Promise<CompressedBundle> {
  // 'advanced' sends Buffers as bytes. The process gets no environment, which has secrets, and no flags of this
  // process.
  const options: ForkOptions = { serialization: 'advanced', env: {}, execArgv: [] };
  const reader = fork(new URL('graphiql-bundle.ts', import.meta.url), options);
  // 'disconnect' comes after the last message, or when the process ends without one.
  const nothing = once(reader, 'disconnect').then(() => Promise.reject(new Error('graphiql-bundle.ts sent nothing')));
  const [compressed] = (await Promise.race([once(reader, 'message'), nothing])) as [CompressedBundle]; // as it sends
  return compressed;
}
