import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { ApiError } from '../errors.ts';
import type { Page } from '../pages/page.ts';
import { prefersHtml } from '../web/negotiation.ts';

// Within a tenth of a second for a large file; 9 takes three times as long for 2.5 % less.
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 9;

const compressBrotli = promisify<Uint8Array, object, Buffer>(brotliCompress);
const decompressBrotli = promisify<Uint8Array, Buffer>(brotliDecompress);
const compressGzip = promisify<Uint8Array, object, Buffer>(gzip);

/**
 * Serves pages and their assets to GET and HEAD. Each is loaded and compressed at its first request, off the event
 * loop, and kept compressed only. Other paths go on, and so does who asks for something else than the HTML of a
 * path: GraphiQL and GraphQL share one.
 */
export function servePages(pages: readonly Page[]): Middleware {
  const served = new Map(pages.map((page) => [page.path, { page, content: createContent(page) }]));
  return async (ctx, next) => {
    const found = served.get(ctx.path);
    if (!found) return next();
    const isShared = found.page.sharesPath === true;
    if (isShared) ctx.vary('Accept');
    if (isShared && !(ctx.method === 'GET' && prefersHtml(ctx))) return next();
    refuseOtherMethods(ctx);
    await answer(ctx, found.page, found.content);
  };
}

function refuseOtherMethods(ctx: Context): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  throw new ApiError('method_not_allowed', `${ctx.path} allows only GET and HEAD.`, {
    headers: { Allow: 'GET, HEAD' },
  });
}

async function answer(ctx: Context, page: Page, content: Content): Promise<void> {
  const encoding = (['br', 'gzip'] as const).find((candidate) => ctx.acceptsEncodings(candidate) === candidate);
  ctx.state.operation = 'page';
  ctx.status = 200; // ctx.fresh compares only answers that succeed
  ctx.set('Content-Type', page.contentType);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set(page.headers ?? {});
  ctx.set('Cache-Control', page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.vary('Accept-Encoding');
  ctx.set('ETag', await content.tag());
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (encoding) ctx.set('Content-Encoding', encoding);
  ctx.body = await content[encoding ?? 'plain']();
}

/** The content of a page in each of its encodings. */
interface Content {
  br(): Promise<Buffer>;
  gzip(): Promise<Buffer>;
  plain(): Promise<Buffer>;
  /** Weak: one for all encodings, RFC 9110 §8.8.1. */
  tag(): Promise<string>;
}

function createContent(page: Page): Content {
  const br = once(async () => {
    const content = await page.load();
    const loaded = typeof content === 'string' ? Buffer.from(content) : content;
    if (page.isCompressed) return loaded;
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
    return compressBrotli(loaded, {
      params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: loaded.length },
    });
  });
  // Rarely asked for: unpacked each time, rather than kept.
  const plain = async () => decompressBrotli(await br());
  return {
    br,
    gzip: once(async () => compressGzip(await plain(), { level: GZIP_LEVEL })),
    plain,
    tag: once(async () => `W/"${hash('sha256', await br(), 'base64url').slice(0, 22)}"`),
  };
}

/** The function, run at the first call only; a failure is not kept. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
