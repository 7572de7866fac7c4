import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib';
import fresh from 'fresh';
import { createLruCache, makeOnce } from '../caches.ts';
import type { Answer, Call, OpenRoute } from '../http/call.ts';
import { acceptedEncoding } from '../http/negotiation.ts';
import { VERSION } from '../product.ts';
import { plainAddress } from './code-samples.js';
import { createGraphiql } from './graphiql.ts';
import { ADDRESS, html, htmlPage, type Page, relative } from './page.ts';
import { createReferencePage } from './reference-page.ts';
import { createSite, type Site, type SiteParts } from './site.ts';

/** The pages of a service with their assets. Throws an error, which stops the start, when it has no list for the samples. */
export function createPages(parts: SiteParts): readonly Page[] {
  const site = createSite(parts);
  const icons = site.assets.filter(({ path }) => path.endsWith('/icon.svg'));
  return [
    createLandingPage(site),
    ...(site.graphiql ? createGraphiql(site) : []),
    createReferencePage(site),
    ...site.assets,
    // Browsers request it for documents that name no icon, such as JSON.
    ...icons.map((icon) => ({ ...icon, path: '/favicon.ico', immutable: false })),
  ];
}

/** The page at `/`, with links to all others. */
function createLandingPage({ service, graphiql, probePaths, graphqlPath, fill }: Site): Page {
  const content = fill('landing.html', {
    VERSION,
    PROBES: probePaths.map((path) => html`\n<li><a href="${relative(path)}">${path}</a></li>`),
    EXPLORE: graphiql
      ? 'Write operations with completion and documentation, from examples in tabs.'
      : 'Any GraphQL client reads the schema by introspection.',
    TO_GRAPHIQL: graphiql && html`<li><a href="${relative(graphqlPath)}">GraphiQL →</a></li>`,
    BODY: JSON.stringify({ query: service.firstCalls.graphql }),
  });
  // `connect` is for crawlers that fetch robots.txt by a script in the page.
  return htmlPage('/', { connect: "'self'" }, content);
}

// Higher values take several times as long and save little.
const BROTLI_PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 6 };
const GZIP_LEVEL = 9;

const IMMUTABLE = 'public, max-age=31536000, immutable';

const ADDRESSES_MAX = 16;
/** The shortest time, in ms, between caching two base addresses, because clients may send any Host. Others get it uncompressed. */
const NEW_ADDRESS_MS = 1000;

const compressBrotli = promisify<Uint8Array, object, Buffer>(brotliCompress);
const decompressBrotli = promisify<Uint8Array, Buffer>(brotliDecompress);
const compressGzip = promisify<Uint8Array, object, Buffer>(gzip);

/**
 * The routes of pages and their assets. The first request for an encoding compresses the content, off the event loop. The
 * bytes are cached: at most three encodings of each page, and of each of ADDRESSES_MAX base addresses that it names. A
 * base address depends on the address of the page alone, so the answer varies by nothing else.
 */
export function pageRoutes(pages: readonly Page[]): OpenRoute[] {
  return pages.map((page) => {
    const contentFor = contentByRequest(page);
    return {
      path: page.path,
      operation: 'page',
      sharesPath: page.sharesPath === true,
      handle: (call) => answer(call, page, contentFor(call)),
    };
  });
}

type RequestedContent = ReturnType<ReturnType<typeof contentByRequest>>;

async function answer({ headers: sent }: Call, page: Page, { content, isCached }: RequestedContent): Promise<Answer> {
  const encoding = isCached ? acceptedEncoding(sent) : 'identity';
  const [tag, body] = await Promise.all([content.tag(), content.bytes[encoding]()]);
  const caching = { ETag: tag, 'Cache-Control': page.immutable ? IMMUTABLE : 'no-cache' };
  const headers = { Vary: 'Accept-Encoding', ...page.headers, ...caching };
  // RFC 9110 §13.1.3: beside If-None-Match, If-Modified-Since is ignored; alone it says nothing of what has no Last-Modified.
  const asked = { 'if-none-match': sent['if-none-match'], 'cache-control': sent['cache-control'] };
  if (fresh(asked, { etag: tag })) return { status: 304, headers };
  const coding = encoding === 'identity' ? {} : { 'Content-Encoding': encoding };
  return { status: 200, headers: { ...headers, 'Content-Type': page.contentType, ...coding }, body };
}

/**
 * Gives a function that finds or makes the content of a page for a request, and says whether later requests get it too; else
 * it is not worth compressing.
 */
function contentByRequest(page: Page) {
  const content = createContent(page);
  if (!page.namesAddress) return () => ({ content, isCached: true });
  const cache = createLruCache<typeof content>(ADDRESSES_MAX);
  let nextAt = 0;
  return ({ baseUrl }: Call) => {
    const address = plainAddress(baseUrl);
    const cached = cache.get(address);
    if (cached !== undefined) return { content: cached, isCached: true };
    const load = async () => Buffer.from(String(await content.bytes.identity()).replaceAll(ADDRESS, () => address));
    const made = createContent({ load });
    const now = performance.now();
    if (now < nextAt) return { content: made, isCached: false };
    nextAt = now + NEW_ADDRESS_MS;
    cache.set(address, made);
    return { content: made, isCached: true };
  };
}

/** The content of a page in each encoding, and one weak ETag for all of them, RFC 9110 §8.8.1. */
function createContent({ load, isCompressed }: Pick<Page, 'load' | 'isCompressed'>) {
  const loadPlain = async () => (isCompressed ? decompressBrotli(await load()) : load());
  return {
    bytes: {
      br: makeOnce(async () => (isCompressed ? load() : compressBrotli(await load(), { params: BROTLI_PARAMS }))),
      gzip: makeOnce(async () => compressGzip(await loadPlain(), { level: GZIP_LEVEL })),
      identity: makeOnce(loadPlain),
    },
    tag: makeOnce(async () => `W/"${hash('sha256', await load(), 'base64url').slice(0, 22)}"`),
  };
}
