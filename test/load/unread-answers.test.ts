import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { deadlineIn } from '../../src/deadline.ts';
import { createShares, limitsOf } from '../../src/load/shares.ts';
import { createReservation, holdAnswer } from '../../src/load/unread-answers.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { createRestApi } from '../../src/rest/rest-api.ts';
import { createSchema } from '../../src/schema/schema.ts';
import type { Stores } from '../../src/store/store.ts';

const ALL_BYTES = 400_000;
const COUNTED = 16_384;
const stays = () => false;

function keyAlone() {
  const shares = createShares({ ...limitsOf(1), bytes: ALL_BYTES });
  return { shares, share: shares.of('1') };
}

/** A request whose answer is a text of so many characters. */
function answerOf(length: number, { links = [], ...state }: { links?: string[]; changes?: boolean } = {}) {
  const headers = new Map<string, unknown>(links.length > 0 ? [['Link', links]] : []);
  const res = Object.assign(new EventEmitter(), { getHeader: (name: string) => headers.get(name) });
  const ctx = {
    body: 'x'.repeat(length),
    state,
    res,
    remove: (name: string) => void headers.delete(name),
    append: (name: string, value: string) => void headers.set(name, [headers.get(name) ?? [], value].flat()),
  };
  return { ctx: ctx as unknown as Context, res, headers }; // what holding reads and writes
}

test('an answer of 16,384 characters counts until its reader has taken it, a smaller one never', () => {
  const { shares, share } = keyAlone();
  const [large, small] = [answerOf(COUNTED), answerOf(COUNTED - 1)];
  for (const { ctx } of [large, small]) holdAnswer(shares, ctx, share);
  expect([share.bytes, typeof small.ctx.body]).toEqual([COUNTED, 'string']);
  large.res.emit('close');
  expect(share.bytes).toBe(0);
});

test('one too many is thrown away and names no next page, but stays when it tells of a change', () => {
  const { shares, share } = keyAlone();
  const links = ['</v2>; rel="successor-version"', '</next>; rel="next"'];
  const [list, created] = [answerOf(ALL_BYTES + 1, { links }), answerOf(ALL_BYTES + 1, { changes: true })];
  expect(() => holdAnswer(shares, list.ctx, share)).toThrow('have not been read');
  expect(list.headers.get('Link')).toEqual([links[0]]);
  holdAnswer(shares, created.ctx, share);
  expect([share.bytes, created.ctx.body]).toMatchObject([0, { length: ALL_BYTES + 1 }]);
});

test('an answer in the making counts 64 KiB an object, a third of all at most, until it is made', async () => {
  const { shares, share } = keyAlone();
  const [small, none] = [1, 2].map(() => createReservation(shares, share, ALL_BYTES, stays));
  expect(small?.reserve(2)).toBeUndefined();
  expect(share.bytes).toBe(2 * 65_536);
  const largest = createReservation(shares, share, ALL_BYTES / 2, stays);
  const room = largest.reserve(1000);
  expect(share.bytes).toBe(2 * 65_536);
  for (const done of [none, small]) done?.free();
  await room;
  expect(share.bytes).toBe((ALL_BYTES / 2) * (1 / 3));
  largest.free();
  expect(share.bytes).toBe(0);
});

test('REST reads nothing before there is room for the answer', async () => {
  let reads = 0;
  const list = async () => {
    reads++;
    return { rows: [], hasMore: false };
  };
  const stores = (() => ({ list })) as unknown as Stores; // all that listPets asks of them
  const api = createRestApi(PETSTORE, createSchema(PETSTORE), stores);
  const listPets = api.routes.find(({ operation }) => operation === 'listPets');
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
  const ctx = { querystring: 'limit=7', state: {}, req: { headers: {} }, res: { setHeader() {} }, body: '' };
  const reserved: number[] = [];
  const reserve = (objects: number) => {
    reserved.push(objects);
    return room;
  };
  const request = { inPath: {}, body: Buffer.alloc(0), deadline: deadlineIn(), reserve };
  const done = listPets?.handle(ctx as unknown as Context, request); // all that it reads and writes
  await turn();
  expect([reserved, reads]).toEqual([[7], 0]);
  makeRoom();
  await done;
  expect([ctx.body, reads]).toEqual(['[]', 1]);
});
