import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import { createLruCache } from '../lru-cache.ts';
import { makeOnce } from '../make-once.ts';
import { plainAddress } from '../pages/code-samples.js';
import { ADDRESS, type Page } from '../pages/page.ts';
import { acceptedEncoding } from '../web/negotiation.ts';
import type { OpenRoute } from '../web/route.ts';

// Higher values take several times as long and save little.
const BROTLI_PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 6 };
const GZIP_LEVEL = 9;

const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The number of base addresses for which a page is cached. */
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
      handle: (ctx) => answer(ctx, page, contentFor(ctx)),
    };
  });
}

type RequestedContent = ReturnType<ReturnType<typeof contentByRequest>>;

async function answer(ctx: Context, page: Page, { content, isCached }: RequestedContent): Promise<void> {
  const encoding = isCached ? acceptedEncoding(ctx) : 'identity';
  const [tag, bytes] = await Promise.all([content.tag(), content.bytes[encoding]()]);
  // Set after everything that may fail: a refusal must not have the caching headers of a page.
  ctx.vary('Accept-Encoding');
  ctx.set({ ...page.headers, ETag: tag, 'Cache-Control': page.immutable ? IMMUTABLE : 'no-cache' });
  ctx.status = 200; // ctx.fresh compares only answers that succeed
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', page.contentType);
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.body = bytes;
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
  return (ctx: Context) => {
    const address = plainAddress(ctx.state.baseUrl);
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
