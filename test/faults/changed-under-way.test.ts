import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { means } from '../../src/gateway/database/faults.ts';
import { describeEachEngine, type TestEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventually, isRefused } from '../support/load.ts';
import { openDatabase } from '../support/prepared.ts';
import { createRandom } from '../support/random.ts';
import { SCHEMA_CHANGES } from './schema-changes.ts';

/** How many creates are sent on each engine, in all its changes; LEDGER_CREATES=20000 for a longer run, which prints counts. */
const CREATES = Number(process.env.LEDGER_CREATES ?? 1000);
/** How many come at once: alone, in small batches and in large ones. */
const BURSTS = [1, 1, 1, 2, 3, 8, 24];
/** Values that some changed schema does not keep or refuses; names are each another one. Every schema keeps the first ones. */
const NAMES: readonly ((number: number) => string)[] = [
  (number) => `plain ${number}`,
  (number) => `  blanks ${number}   `,
  (number) => `日本 🐾 ${number}`,
  (number) => `${'long '.repeat(30)}${number}`,
  (number) => `É\\'" ${number}\t`,
  (number) => `${number}`,
];
const CATEGORIES = ['1', '-1', '2', '9223372036854775807'];
const STATUSES = ['available', undefined, 'pending', 'sold'];

interface Counts {
  created: number;
  refused: number;
  readonly wrong: string[];
}

interface NewPet {
  readonly name: string;
  readonly categoryId: string;
  readonly status: string | undefined;
}

const ADD = 'mutation ($input: NewPetInput!) { addPet(input: $input) { id name categoryId status } }';
const PET = 'query ($id: ID!) { pet(id: $id) { id name categoryId status } }';

/** How each API creates an animal and reads one: `told` is the animal as a text, undefined where the answer is that it cannot now. */
const APIS = {
  rest: {
    async create({ createPet }: TestGateway, { name, status, categoryId }: NewPet, headers: Record<string, string>) {
      const fields = JSON.stringify({ name, status }).slice(1);
      const { text, json, ...answer } = await createPet(`{"categoryId":${categoryId},${fields}`, headers);
      return { told: isRefused({ ...answer, text }) ? undefined : text, name: json.name };
    },
    async read({ request }: TestGateway, told: string) {
      const answer = await request(`/v1/pets/${/"id":(-?\d+)/.exec(told)?.[1]}`);
      return isRefused(answer) ? undefined : answer.text;
    },
  },
  graphql: {
    async create({ graphql }: TestGateway, pet: NewPet, headers: Record<string, string>) {
      const answer = await graphql(ADD, { input: { ...pet, status: pet.status?.toUpperCase() } }, headers);
      const added = answer.json.data?.addPet;
      return { told: isRefused(answer) ? undefined : JSON.stringify(added), name: added?.name };
    },
    async read({ graphql }: TestGateway, told: string) {
      const answer = await graphql(PET, { id: JSON.parse(told).id });
      return isRefused(answer) ? undefined : JSON.stringify(answer.json.data?.pet);
    },
  },
};

/** Creates animals in bursts; each that is acknowledged is read by the id that was told. `isEasy` says which values are sent. */
async function createMany(
  gateway: TestGateway,
  api: keyof typeof APIS,
  { first, count, isEasy }: { first: number; count: number; isEasy: () => boolean },
  counts: Counts,
) {
  const random = createRandom(first);
  const { create, read } = APIS[api];
  const createOne = async (number: number) => {
    const pick = <T>(all: readonly T[]): T => random.pick(isEasy() ? all.slice(0, 1) : all);
    const pet = { name: pick(NAMES)(number), categoryId: pick(CATEGORIES), status: pick(STATUSES) };
    const headers: Record<string, string> = number % 3 === 0 ? { 'idempotency-key': `key-${number}` } : {};
    const { told, name } = await create(gateway, pet, headers);
    if (told === undefined) {
      counts.refused++;
      return;
    }
    counts.created++;
    let kept = await read(gateway, told);
    for (; kept === undefined; kept = await read(gateway, told)) await delay(20);
    if (kept !== told || name !== pet.name)
      counts.wrong.push(`sent ${JSON.stringify(pet)}, told ${told}, kept ${kept}`);
  };
  for (let sent = 0; sent < count; ) {
    const burst = Math.min(random.pick(BURSTS), count - sent);
    await Promise.all(Array.from({ length: burst }, (_, index) => createOne(first + sent + index)));
    sent += burst;
  }
}

/** Whether a statement was done: one that creates hold up waits two seconds for its lock, then it was not. */
const unlessLocked = (statement: Promise<unknown>): Promise<boolean> =>
  statement.then(
    () => true,
    (error) => {
      if (means(error, 'lockWait')) return false;
      throw error;
    },
  );

/** Creates over both APIs before the schema changes, while it does, and afterwards. */
async function createWhileChanging(engine: TestEngine, statements: readonly string[], ofEasyRows: boolean) {
  const url = await engine.freshDatabase();
  const gateway = await startGateway(engine, { DATABASE_URL: url, DATABASE_POOL_MAX: '4' });
  const { knex } = await openDatabase(url);
  const counts: Counts = { created: 0, refused: 0, wrong: [] };
  let isEasy = ofEasyRows;
  const count = Math.ceil(CREATES / SCHEMA_CHANGES[engine.name].length / 2 / 4);
  const round = (number: number) => {
    const creates = (first: number) => ({ first, count, isEasy: () => isEasy });
    const ofRest = createMany(gateway, 'rest', creates(1_000_000 * number), counts);
    return Promise.all([ofRest, createMany(gateway, 'graphql', creates(1_000_000 * number + 500_000), counts)]);
  };
  const change = async () => {
    // Sooner than a server ends a transaction that a gateway has left open, SESSION_IDLE_MS.
    for (const statement of statements)
      await eventually(() => unlessLocked(knex.raw(statement)), 20_000, `done: ${statement}`);
    isEasy = false;
  };
  await round(1);
  await Promise.all([round(2), change()]);
  await round(3);
  await round(4);
  return { gateway, counts };
}

describeEachEngine('creates while an operator changes the schema', (engine) => {
  test.each(SCHEMA_CHANGES[engine.name])(
    '$what: each that is acknowledged is there under its id, as it was sent',
    async ({ what, statements, ofEasyRows }) => {
      const { counts, gateway } = await createWhileChanging(engine, statements, ofEasyRows);
      if (process.env.LEDGER_CREATES !== undefined)
        console.info(engine.name, what, { ...counts, wrong: counts.wrong.length }, countCauses(gateway));
      expect(counts.wrong).toEqual([]);
      expect(counts.created).toBeGreaterThan(0);
    },
    600_000,
  );
});

/** How often each cause of a refusal is in the log. */
function countCauses({ logs }: TestGateway): Record<string, number> {
  const causes = logs.flatMap(
    ({ err }) => (err as { message?: string } | undefined)?.message?.split(': ').at(-1) ?? [],
  );
  return Object.fromEntries([...Map.groupBy(causes, (cause) => cause)].map(([cause, all]) => [cause, all.length]));
}
