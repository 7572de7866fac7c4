import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { deadlineIn } from '../../src/gateway/deadline.ts';
import { createShares, shareLimitsOf } from '../../src/gateway/load/shares.ts';
import { createReservation, holdAnswer } from '../../src/gateway/load/unread-answers.ts';
import { createRestApi } from '../../src/gateway/rest/rest-api.ts';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import type { Stores } from '../../src/gateway/store/store.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';

const ALL_BYTES = 400_000;
const COUNTED = 16_384;
const stays = () => false;

function keyAlone() {
  const shares = createShares({ ...shareLimitsOf(1), bytes: ALL_BYTES });
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

test('bytes count as they are, without a copy', () => {
  const { shares, share } = keyAlone();
  const { ctx, res } = answerOf(0);
  const bytes = Buffer.alloc(COUNTED);
  ctx.body = bytes;
  holdAnswer(shares, ctx, share);
  expect([share.bytes, ctx.body === bytes]).toEqual([COUNTED, true]);
  res.emit('close');
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

test('an answer that is given up while it waits for its room frees nothing that others hold', async () => {
  const { shares, share } = keyAlone();
  shares.hold(share, 150_000);
  const givenUp = createReservation(shares, share, ALL_BYTES, () => true);
  const room = givenUp.reserve(2);
  shares.free(share, 0);
  await expect(room).rejects.toMatchObject({ code: 'too_many_requests' });
  givenUp.free();
  expect(share.bytes).toBe(150_000);
});

test('an answer that needs several reads at once is as many requests in flight, until it is made', () => {
  const { shares, share } = keyAlone();
  const reservation = createReservation(shares, share, ALL_BYTES, stays);
  reservation.reserve(1, 5);
  expect(share.inFlight).toBe(4); // beside the request itself
  reservation.free();
  expect(share.inFlight).toBe(0);
});

/** Calls listPets with this query. It may read when `makeRoom` was called. */
function listPets(querystring: string) {
  const counts = { reserved: [] as number[], reads: 0 };
  const list = async () => {
    counts.reads++;
    return { rows: [], hasMore: false };
  };
  const stores = (() => ({ list })) as unknown as Stores; // all that listPets asks of them
  const api = createRestApi(PETSTORE, createSchema(PETSTORE), stores);
  const route = api.routes.find(({ operation }) => operation === 'listPets');
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
  const ctx = { querystring, state: {}, req: { headers: {} }, res: { setHeader() {} }, body: '' };
  const reserve = (objects: number) => {
    counts.reserved.push(objects);
    return room;
  };
  const request = { params: {}, body: Buffer.alloc(0), deadline: deadlineIn(), reserve };
  const done = route?.handle(ctx as unknown as Context, request); // all that it reads and writes
  return { ctx, counts, makeRoom, done };
}

test('REST reads nothing before there is room for the answer', async () => {
  const { ctx, counts, makeRoom, done } = listPets('limit=7');
  await turn();
  expect(counts).toEqual({ reserved: [7], reads: 0 });
  makeRoom();
  await done;
  expect([ctx.body, counts.reads]).toEqual(['[]', 1]);
});

test.each(['-2147483648', '-1', '0', '101', '2147483647'])('a list of limit=%s takes no room', async (limit) => {
  const { counts, makeRoom, done } = listPets(`limit=${limit}`);
  makeRoom();
  await expect(done).rejects.toMatchObject({ code: 'bad_request' });
  expect(counts).toEqual({ reserved: [0], reads: 0 });
});
