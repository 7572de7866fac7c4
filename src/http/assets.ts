import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import type { Page } from '../pages/page.ts';
import { otherMethod } from '../web/allowed-methods.ts';
import { acceptedEncoding, type Encoding, prefersHtml } from '../web/negotiation.ts';

// Higher ones take several times as long for little less.
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 9;

const compressBrotli = promisify<Uint8Array, object, Buffer>(brotliCompress);
const decompressBrotli = promisify<Uint8Array, Buffer>(brotliDecompress);
const compressGzip = promisify<Uint8Array, object, Buffer>(gzip);

/**
 * Serves pages and their assets to GET and HEAD. Each is made in an encoding when a GET first asks for it, off the event
 * loop, and kept: all readers share the same bytes, and three encodings of the pages named here are all that is kept.
 * Other paths go on, and so does who asks for something else than the HTML of a path: GraphiQL and GraphQL share one.
 */
export function servePages(pages: readonly Page[]): Middleware {
  const served = new Map(pages.map((page) => [page.path, { page, content: createContent(page) }]));
  return (ctx, next) => {
    const found = served.get(ctx.path);
    if (!found) return next();
    const isShared = found.page.sharesPath === true;
    if (isShared) ctx.vary('Accept');
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (isShared && !(isRead && prefersHtml(ctx))) return next();
    if (!isRead) throw otherMethod(ctx.path, ['GET', 'HEAD']);
    return answer(ctx, found.page, found.content);
  };
}

async function answer(ctx: Context, page: Page, content: Content): Promise<void> {
  const encoding = acceptedEncoding(ctx);
  ctx.state.operation = 'page';
  ctx.vary('Accept-Encoding');
  ctx.status = 200; // ctx.fresh compares only answers that succeed
  const tag = await content.tag();
  ctx.set('ETag', tag); // for ctx.fresh
  const isFresh = ctx.fresh;
  ctx.remove('ETag');
  const bytes = isFresh || ctx.method === 'HEAD' ? undefined : await content.bytes(encoding);
  // What may fail is behind us: no refusal has the headers of a page, which caches would keep with it.
  ctx.set('ETag', tag);
  ctx.set('Content-Type', page.contentType);
  ctx.set(page.headers ?? {});
  ctx.set('Cache-Control', page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (isFresh) {
    ctx.status = 304;
    return;
  }
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  if (bytes) {
    ctx.body = bytes;
    return;
  }
  // RFC 9110 §9.3.2: what would have to be made first may be left out.
  const length = content.length(encoding);
  if (length !== undefined) ctx.length = length;
}

/** The content of a page in each of its encodings. */
interface Content {
  bytes(encoding: Encoding): Promise<Buffer>;
  /** How many bytes it has, when it has been made. */
  length(encoding: Encoding): number | undefined;
  /** Weak: one for all encodings, RFC 9110 §8.8.1. */
  tag(): Promise<string>;
}

function createContent(page: Page): Content {
  const load = async () => {
    const content = await page.load();
    return typeof content === 'string' ? Buffer.from(content) : content;
  };
  const loadPlain = async () => (page.isCompressed ? decompressBrotli(await load()) : load());
  const kept = {
    br: keep(async () => (page.isCompressed ? load() : compress(await load()))),
    gzip: keep(async () => compressGzip(await loadPlain(), { level: GZIP_LEVEL })),
    identity: keep(loadPlain),
  };
  // The path of what is immutable changes with the content: nothing must be loaded to compare it.
  const tag = keep(async () => weakTag(page.immutable ? page.path : await load()));
  return {
    bytes: (encoding) => kept[encoding].get(),
    length: (encoding) => kept[encoding].made()?.length,
    tag: tag.get,
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

/** What `make` gives, made at the first call only; a failure is not kept. */
function keep<Value>(make: () => Promise<Value>): { get(): Promise<Value>; made(): Value | undefined } {
  let making: Promise<Value> | undefined;
  let made: Value | undefined;
  const run = async () => {
    try {
      made = await make();
      return made;
    } catch (error) {
      making = undefined;
      throw error;
    }
  };
  return {
    get() {
      making ??= run();
      return making;
    },
    made: () => made,
  };
}
