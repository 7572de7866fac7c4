import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import { makeOnce } from '../make-once.ts';
import type { Page } from '../pages/page.ts';
import { acceptedEncoding } from '../web/negotiation.ts';
import type { OpenRoute } from '../web/route.ts';

// Higher values take several times as long and save little.
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 9;

const compressBrotli = promisify<Uint8Array, object, Buffer>(brotliCompress);
const decompressBrotli = promisify<Uint8Array, Buffer>(brotliDecompress);
const compressGzip = promisify<Uint8Array, object, Buffer>(gzip);

/**
 * The routes of pages and their assets. The first request for an encoding compresses the content, off the event loop. The
 * bytes are cached: at most three encodings of each page.
 */
export function pageRoutes(pages: readonly Page[]): OpenRoute[] {
  return pages.map((page) => {
    const content = createContent(page);
    return {
      path: page.path,
      operation: 'page',
      sharesPath: page.sharesPath === true,
      handle: (ctx) => answer(ctx, page, content),
    };
  });
}

async function answer(ctx: Context, page: Page, content: ReturnType<typeof createContent>): Promise<void> {
  const encoding = acceptedEncoding(ctx);
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
