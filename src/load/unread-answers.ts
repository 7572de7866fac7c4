import type { Context } from 'koa';
import type {} from '../web/request-state.ts';
import type { Share, Shares } from './shares.ts';
import { tooManyRequests } from './shares.ts';

/** Answers from this many characters on are counted until their readers have taken them; smaller ones are few: one a request in flight. */
const COUNTED_LENGTH = 16_384;

/**
 * What an object of an answer counts until the answer is made, in bytes: its row, its text, and its part of the whole text,
 * all of a size that few have. So few answers of the largest are in the making at once.
 */
const OBJECT_BYTES = 65_536;
/** The part of all bytes that one answer in the making may count at most: else it could begin beside nothing. */
const ANSWER_PART = 0.75;

/** What one answer reserves, until it is made or will not be: `free`. `allBytes` is what all together may hold. */
export function createReservation(shares: Shares, share: Share, allBytes: number, isAbandoned: () => boolean) {
  let reserved = 0;
  return {
    reserve(objects: number): Promise<void> | undefined {
      const bytes = Math.min(objects * OBJECT_BYTES, ANSWER_PART * allBytes);
      const room = shares.reserve(share, bytes, isAbandoned)?.then(() => {
        reserved = bytes;
      });
      if (room === undefined) reserved = bytes;
      return room;
    },
    free() {
      if (reserved > 0) shares.free(share, reserved);
    },
  };
}

/** Counts an answer until it is read; one too many is thrown away, unless it tells of a change. ApiError `too_many_requests`. */
export function holdAnswer(shares: Shares, ctx: Context, share: Share): void {
  if (typeof ctx.body !== 'string' || ctx.body.length < COUNTED_LENGTH) return;
  const body = Buffer.from(ctx.body); // as bytes it is held once, and beside the heap
  ctx.body = body;
  if (shares.hold(share, body.length)) {
    ctx.res.once('close', () => shares.free(share, body.length));
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
