import { beforeAll, expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Animal, APIS } from './apis.ts';

/** Clients that write and read all the time, and animals that each adds: together fewer than a page has. */
const CLIENTS = 8;
const ROUNDS = 11;
/** How the APIs of this folder tell a gateway that was held up: 503, and its code in GraphQL. */
const UNAVAILABLE = /include (503|'SERVICE_UNAVAILABLE')/;
/** The API of a client's turn: each writes and reads by both. */
const apiOf = (turn: number) => (turn % 2 === 0 ? APIS.rest : APIS.graphql);

describeEachEngine('strictly fresh reads: whoever was answered 201 sees the animal', (engine) => {
  /** Two gateways on one database, as two processes or two machines are. */
  let writer: TestGateway;
  let neighbour: TestGateway;
  beforeAll(async () => {
    const settings = { LOG_LEVEL: 'silent', DATABASE_URL: await engine.freshDatabase() };
    writer = await startGateway(engine, settings);
    neighbour = await startGateway(engine, settings);
  });

  test.each([
    ['the same gateway', () => writer],
    ['another gateway', () => neighbour],
  ])(
    'in the next list and the next get of %s, always',
    { retry: { count: 2, condition: UNAVAILABLE } },
    async (_where, getReader) => {
      const reader = getReader();
      const [before] = (await APIS.rest.create(writer, { name: 'before', categoryId: 1 })) as Animal[];
      const client = async (number: number) => {
        for (let round = 0; round < ROUNDS; round++) {
          const turn = number + round;
          const input = { name: `${number}-${round}`, categoryId: 1, status: 'sold' };
          const [own] = (await apiOf(turn).create(writer, input)) as Animal[];
          // Everybody asks for the same pages at the same time, so equal reads meet all the time.
          const [all, sold, one] = await Promise.all([
            apiOf(turn + 1).list(reader, { limit: '100', after: before?.id }),
            apiOf(turn).list(reader, { limit: '100', status: 'sold', after: before?.id }),
            apiOf(turn + 1).get(reader, own?.id ?? ''),
          ]);
          expect(all).toContainEqual(own);
          expect(sold).toContainEqual(own);
          expect(one).toEqual([own]);
        }
      };
      // All come to their end, so that none goes on beside the next attempt.
      const ends = await Promise.allSettled(Array.from({ length: CLIENTS }, (_, number) => client(number)));
      const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : [])); // what `expect` throws
      const [error] = [...errors.filter(({ message }) => !UNAVAILABLE.test(message)), ...errors];
      if (error) throw error;
    },
  );
});
