import { type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { BundlePiece, CompressedBundle } from './graphiql-bundle.ts';
import { TABS } from './graphiql-tabs.ts';
import { keyBar } from './key-bar.ts';
import { htmlPage, ownAssets, type Page, versionedAsset } from './page.ts';

/**
 * GraphiQL at `path`, for browsers: a small page and, beside it, the pieces of the bundle that
 * @graphql-yoga/render-graphiql would write into one page of 9 MB. Nothing is read before somebody opens it.
 */
export function createGraphiql(path: string): readonly Page[] {
  const readPiece = createBundleReader();
  const version = bundleVersion();
  const piece = (name: BundlePiece): Page => ({
    ...versionedAsset(name, version, () => readPiece(name)),
    isCompressed: true,
  });
  const bundle = piece('graphiql.js');
  const [script, style] = ownAssets(import.meta.url, 'graphiql-page.js', 'graphiql-page.css') as [Page, Page];
  const styles = [piece('graphiql.css'), style];
  const workers = {
    editorWorkerService: piece('editor-worker.js'),
    json: piece('json-worker.js'),
    graphql: piece('graphql-worker.js'),
  };
  const settings = {
    tabs: TABS,
    workers: Object.fromEntries(Object.entries(workers).map(([label, worker]) => [label, worker.path.slice(1)])),
  };
  const page = htmlPage(
    path,
    { title: 'GraphiQL · Petstore Gateway', styles, modules: [script], scripts: [bundle], body: body(settings) },
    PERMISSIONS,
  );
  return [{ ...page, sharesPath: true }, ...styles, script, bundle, ...Object.values(workers)];
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

function body(settings: unknown): string {
  return `${keyBar('Documentation, completion and every operation use it.')}
<main id="graphiql"><p class="loading">Loading GraphiQL …</p></main>
<noscript><p class="loading">GraphiQL needs JavaScript. <a href="./">The overview</a> does not.</p></noscript>
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
  let reading: Promise<CompressedBundle> | undefined;
  return async (name) => {
    reading ??= readBundle().catch((error) => {
      reading = undefined; // the next request tries again
      throw error;
    });
    const piece = (await reading).get(name);
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
