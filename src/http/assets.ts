import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import { createLruCache } from '../lru-cache.ts';
import { makeOnce } from '../make-once.ts';
import { ADDRESS, type Page } from '../pages/page.ts';
import { acceptedEncoding } from '../web/negotiation.ts';
import type { OpenRoute } from '../web/route.ts';

// Higher values take several times as long and save little.
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 9;

/** How many base addresses have their own cached content of a page. */
const ADDRESSES_MAX = 16;
/** The shortest time, in ms, between two of them: anybody may send any Host. Others meanwhile get the page uncompressed. */
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

async function answer(ctx: Context, page: Page, { content, isCached }: Served): Promise<void> {
  const encoding = isCached ? acceptedEncoding(ctx) : 'identity';
  ctx.vary('Accept-Encoding');
  ctx.status = 200; // ctx.fresh compares only answers that succeed
  const tag = await content.tag();
  ctx.set('ETag', tag); // for ctx.fresh
  const isFresh = ctx.fresh;
  ctx.remove('ETag');
  const bytes = isFresh ? undefined : await content.bytes[encoding]();
  // Set after everything that may fail: a refusal must not have the caching headers of a page.
  ctx.set('ETag', tag);
  if (!isFresh) ctx.set('Content-Type', page.contentType);
  ctx.set(page.headers ?? {});
  ctx.set('Cache-Control', page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (isFresh) {
    ctx.status = 304;
    return;
  }
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.body = bytes;
}

interface Served {
  readonly content: ReturnType<typeof createContent>;
  /** Whether later requests get it too; else it is not worth compressing. */
  readonly isCached: boolean;
}

/** Gives a function that finds or makes the content of a page for a request. */
function contentByRequest(page: Page): (ctx: Context) => Served {
  const { addressOf } = page;
  if (addressOf === undefined) {
    const served = { content: createContent(page), isCached: true };
    return () => served;
  }
  const template = makeOnce(async () => String(await page.load()));
  const cache = createLruCache<Served>(ADDRESSES_MAX);
  let nextAt = 0;
  return (ctx) => {
    const address = addressOf(ctx);
    const cached = cache.get(address);
    if (cached !== undefined) return cached;
    const now = performance.now();
    const load = async () => (await template()).replaceAll(ADDRESS, () => address);
    const served = { content: createContent({ ...page, load }), isCached: now >= nextAt };
    if (!served.isCached) return served;
    nextAt = now + NEW_ADDRESS_MS;
    cache.set(address, served);
    return served;
  };
}

/** The content of a page in each encoding, and one weak ETag for all of them, RFC 9110 §8.8.1. */
function createContent(page: Page) {
  const load = async () => {
    const content = await page.load();
    return typeof content === 'string' ? Buffer.from(content) : content;
  };
  const loadPlain = async () => (page.isCompressed ? decompressBrotli(await load()) : load());
  return {
    bytes: {
      br: makeOnce(async () => (page.isCompressed ? load() : compress(await load()))),
      gzip: makeOnce(async () => compressGzip(await loadPlain(), { level: GZIP_LEVEL })),
      identity: makeOnce(loadPlain),
    },
    // The path of an immutable page changes with its content: the ETag needs no load.
    tag: makeOnce(async () => weakTag(page.immutable ? page.path : await load())),
  };
}

function compress(content: Buffer): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  return compressBrotli(content, {
    params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: content.length },
  });
}

function weakTag(content: string | Buffer): string {
  return `W/"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
}
