import fc from 'fast-check';
import { expect, test } from 'vitest';
import { number } from '../graphql/exact-json.ts';
import { describeEachEngine } from '../support/engines.ts';
import { gatewayOf, type TestGateway } from '../support/gateway.ts';
import { type Animal, APIS, type ListRequest, type Outcome } from './apis.ts';

const STATUSES: readonly unknown[] = ['available', 'pending', 'sold'];

const api = fc.constantFrom<keyof typeof APIS>('rest', 'graphql');
const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.constantFrom('', '\0', "'; --", '\ud800', 'e\u0301', '\\u0041', '"}'),
);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const categoryId = fc.oneof(
  { weight: 4, arbitrary: int64 },
  { weight: 1, arbitrary: fc.constantFrom('9223372036854775808', '-9223372036854775809', '1.5', '1e400') },
);
const status = fc.option(fc.constantFrom('available', 'pending', 'sold', 'gone'), { nil: undefined, freq: 3 });

const create = fc.record({ kind: fc.constant('create' as const), api, name, categoryId, status });
const list = fc.record({
  kind: fc.constant('list' as const),
  api,
  limit: fc.option(fc.integer({ min: -1, max: 102 }), { nil: undefined }),
  status,
  /** The list begins after the animal that is so many from the end. */
  back: fc.option(fc.nat({ max: 8 }), { nil: undefined }),
});
const get = fc.record({ kind: fc.constant('get' as const), api, back: fc.nat({ max: 8 }) });

type Generated<A> = A extends fc.Arbitrary<infer Value> ? Value : never;
type Command = Generated<typeof create | typeof list | typeof get>;

const isStatus = (word: unknown): boolean => word === undefined || STATUSES.includes(word);
const isInt64 = (text: string): boolean => /^-?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

/** The service as a list in memory: what each command must give. */
class Model {
  readonly #animals: Animal[] = [];

  /** The id of the animal that is `back` from the end; one before all of them where there is none. */
  idFromEnd(back: number): string {
    return this.#animals.at(-1 - back)?.id ?? '0';
  }

  list({ limit = '20', status: wanted, after = '0' }: ListRequest): Outcome {
    if (Number(limit) < 1 || Number(limit) > 100 || !isStatus(wanted)) return 'refused';
    const chosen = this.#animals.filter((pet) => wanted === undefined || pet.status === wanted);
    return chosen.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, Number(limit));
  }

  get(id: string): Outcome {
    return this.#animals.filter((pet) => pet.id === id);
  }

  add(animal: Animal): void {
    this.#animals.push(animal);
  }
}

async function run(gateway: TestGateway, model: Model, command: Command): Promise<void> {
  const { create: createPet, list: listPets, get: getPet } = APIS[command.api];
  if (command.kind === 'create') {
    const { name, categoryId, status } = command;
    const outcome = await createPet(gateway, { name, categoryId: number(categoryId), status });
    const allowed = name.isWellFormed() && isInt64(categoryId) && isStatus(status);
    const expected = { id: expect.stringMatching(/^\d+$/), name, categoryId, status: status ?? null };
    expect(outcome).toEqual(allowed ? [expected] : 'refused');
    if (outcome !== 'refused') for (const animal of outcome) model.add(animal);
  } else if (command.kind === 'list') {
    const { limit, status, back } = command;
    const after = back === undefined ? undefined : model.idFromEnd(back);
    const request = { limit: limit?.toString(), status, after };
    expect(await listPets(gateway, request)).toEqual(model.list(request));
  } else {
    const id = model.idFromEnd(command.back);
    expect(await getPet(gateway, id)).toEqual(model.get(id));
  }
}

describeEachEngine('parity', (engine) => {
  const gateway = gatewayOf(engine, { LOG_LEVEL: 'silent' });

  test('any creates, lists and gets over either API give what a list in memory gives', async () => {
    const model = new Model();
    const commands = fc.array(fc.oneof({ weight: 3, arbitrary: create }, list, get), { maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        for (const command of sequence) await run(gateway, model, command);
      }),
      { numRuns: 40 },
    );
  });
});
