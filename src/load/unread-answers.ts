import type { Context } from 'koa';
import type {} from '../web/request-state.ts';
import { tooManyRequests } from './lines.ts';
import type { Share, Shares } from './shares.ts';

/** Answers from this size on are counted until their readers have taken them, in bytes; smaller ones are few: one a place. */
const COUNTED_BYTES = 16_384;

/** Counts an answer until it is read; one too many is thrown away, unless it tells of a change. ApiError `too_many_requests`. */
export function holdAnswer(shares: Shares, ctx: Context, share: Share): void {
  if (typeof ctx.body !== 'string' || ctx.body.length < COUNTED_BYTES) return;
  const bytes = ctx.length ?? 0;
  if (shares.holdAnswer(share, bytes)) {
    ctx.res.once('close', () => shares.releaseAnswer(share, bytes));
  } else if (ctx.state.changes !== true) {
    withdrawNextPage(ctx);
    throw tooManyRequests('Too many answers to this API key have not been read; read them, then try again.');
  }
}

/** What else `Link` tells, such as what to use instead of the operation, is true of a refusal as well. */
function withdrawNextPage(ctx: Context): void {
  const links = [ctx.res.getHeader('Link') ?? []].flat().map(String);
  ctx.remove('Link');
  for (const link of links) if (!link.endsWith('rel="next"')) ctx.append('Link', link);
}
