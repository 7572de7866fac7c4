import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deserialize } from 'node:v8';
import bundlePackage from '@graphql-yoga/render-graphiql/package.json' with { type: 'json' };
import { makeOnce } from '../caches.ts';
import type { CompressedBundle } from './graphiql-bundle.ts';
import { html, htmlPage, type Page, relative, versionedAssets } from './page.ts';
import { type Site, siteHeader } from './site.ts';

// Monaco, the editor, writes style elements and attributes and offers no nonce for them. All scripts are files.
const PERMISSIONS = {
  script: "'self'",
  style: "'self' 'unsafe-inline'",
  font: 'data:',
  img: "'self' data:",
  connect: "'self'",
  worker: "'self'",
};

const PROGRAM = fileURLToPath(new URL('graphiql-bundle.ts', import.meta.url));

const PIECES: readonly (keyof CompressedBundle)[] = [
  'graphiql.js',
  'graphiql.css',
  'editor-worker.js',
  'json-worker.js',
  'graphql-worker.js',
];

/**
 * The GraphiQL page at the path of GraphQL, and the files of its bundle. @graphql-yoga/render-graphiql would write them into
 * one large page; here the page is small and they are assets. The first request for one of them loads the bundle.
 */
export function createGraphiql(site: Site): readonly Page[] {
  const { service, graphqlPath } = site;
  const bundle = makeOnce(readBundle);
  const version = `${bundlePackage.name}@${bundlePackage.version} ${readFileSync(PROGRAM, 'utf8')}`;
  const { folder, asset } = versionedAssets(version);
  const pieces = PIECES.map(
    (name): Page => ({ ...asset(name, async () => (await bundle())[name]), isCompressed: true }),
  );
  const known = service.resources.flatMap(({ tabs = [] }) => tabs);
  const tabs = known.length > 0 ? known : [{ query: service.firstCalls.graphql }];
  const addresses = PIECES.map((name) => [name, relative(`${folder}/${name}`)]);
  const settings = JSON.stringify({ tabs, bundle: Object.fromEntries(addresses) });
  const content = site.fill('graphiql.html', {
    HEADER: siteHeader(site, graphqlPath),
    QUERY: tabs[0]?.query,
    SETTINGS: html`<script type="application/json" id="settings">${{ html: settings.replaceAll('<', '\\u003c') }}</script>`,
  });
  const page = htmlPage(graphqlPath, PERMISSIONS, content);
  return [{ ...page, sharesPath: true }, ...pieces];
}

/** In bytes; the bundle has a quarter of it. */
const BUNDLE_MAX = 8 * 2 ** 20;

/** How long reading it may take, in ms: 1 s on a free machine, several on a busy one. Afterwards the next request tries again. */
const BUNDLE_MS = 30_000;

async function readBundle(): Promise<CompressedBundle> {
  // The process gets no environment, which has secrets, and no flags of this process.
  const options = {
    encoding: 'buffer',
    env: {},
    maxBuffer: BUNDLE_MAX,
    timeout: BUNDLE_MS,
    killSignal: 'SIGKILL',
  } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], options);
  return deserialize(stdout);
}
