import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createReservation, holdAnswer, shareLimitsOf } from '../../src/gateway/http/admission.ts';
import { createRestApi } from '../../src/gateway/rest/rest-api.ts';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import type { Stores } from '../../src/gateway/store/store.ts';
import { createShares } from '../../src/lib/fair-shares/fair-shares.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { admittedCall, connectionOf } from '../support/calls.ts';

const ALL_BYTES = 450_000;
const LIMITS = { bytes: ALL_BYTES, objectBytes: 65_536 };
const COUNTED = 16_384;
const STAYS = { closed: false };

function keyAlone() {
  const shares = createShares({ ...shareLimitsOf(1, 65_536), bytes: ALL_BYTES });
  return { shares, share: shares.of('1') };
}

test('an answer of 16,384 characters counts until its reader has taken it, a smaller one never', () => {
  const { shares, share } = keyAlone();
  const { response, close } = connectionOf();
  const small = { status: 200, body: 'x'.repeat(COUNTED - 1) };
  expect(holdAnswer(shares, share, small, false, response)).toBe(small);
  holdAnswer(shares, share, { status: 200, body: 'x'.repeat(COUNTED) }, false, response);
  expect(share.bytes).toBe(COUNTED);
  close();
  expect(share.bytes).toBe(0);
});

test('bytes count as they are, without a copy', () => {
  const { shares, share } = keyAlone();
  const body = Buffer.alloc(COUNTED);
  expect(holdAnswer(shares, share, { status: 200, body }, false, connectionOf().response).body).toBe(body);
  expect(share.bytes).toBe(COUNTED);
});

test('answers of all sizes leave nothing behind, whatever the heap', () => {
  const limits = shareLimitsOf(1, 65_536, 256 * 2 ** 20, 0);
  const shares = createShares(limits);
  const share = shares.of('1');
  const answers = [60, 205].map((objects) => {
    const answer = createReservation(shares, share, limits, STAYS);
    expect(answer.reserve(objects)).toBeUndefined();
    return answer;
  });
  for (const { free } of answers) free();
  expect([share.bytes, share.reserved]).toEqual([0, 0]);
});

test('an answer in the making counts 64 KiB an object, three tenths of all at most, until it is made', async () => {
  const { shares, share } = keyAlone();
  const [small, none] = [1, 2].map(() => createReservation(shares, share, LIMITS, STAYS));
  expect(small?.reserve(2)).toBeUndefined();
  expect(share.bytes).toBe(2 * 65_536);
  const largest = createReservation(shares, share, { ...LIMITS, bytes: ALL_BYTES / 2 }, STAYS);
  const room = largest.reserve(1000);
  expect(share.bytes).toBe(2 * 65_536);
  for (const done of [none, small]) done?.free();
  await room;
  expect(share.bytes).toBe((ALL_BYTES / 2) * 0.3);
  largest.free();
  expect(share.bytes).toBe(0);
});

test('an answer that is given up while it waits for its room frees nothing that others hold', async () => {
  const { shares, share } = keyAlone();
  shares.reserve(share, 150_000, STAYS);
  const givenUp = createReservation(shares, share, LIMITS, { closed: true });
  const room = givenUp.reserve(2);
  shares.free(share, 0);
  await expect(room).rejects.toMatchObject({ code: 'too_many_requests' });
  givenUp.free();
  expect(share.bytes).toBe(150_000);
});

test('an answer that needs several reads at once is as many requests in flight, until it is made', () => {
  const { shares, share } = keyAlone();
  const reservation = createReservation(shares, share, LIMITS, STAYS);
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
    return [];
  };
  const stores = (() => ({ list })) as unknown as Stores; // all that listPets asks of them
  const api = createRestApi(PETSTORE, createSchema(PETSTORE), stores);
  const route = api.routes.find(({ operation }) => operation === 'listPets');
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
  const reserve = (objects: number) => {
    counts.reserved.push(objects);
    return room;
  };
  return { counts, makeRoom, done: route?.handle(admittedCall({ querystring, reserve })) };
}

test('REST reads nothing before there is room for the answer', async () => {
  const { counts, makeRoom, done } = listPets('limit=7');
  await turn();
  expect(counts).toEqual({ reserved: [7], reads: 0 });
  makeRoom();
  expect(await done).toMatchObject({ status: 200, body: '[]' });
  expect(counts.reads).toBe(1);
});

test.each(['-2147483648', '-1', '0', '101', '2147483647'])('a list of limit=%s takes no room', async (limit) => {
  const { counts, makeRoom, done } = listPets(`limit=${limit}`);
  makeRoom();
  await expect(done).rejects.toMatchObject({ code: 'bad_request' });
  expect(counts).toEqual({ reserved: [], reads: 0 });
});
