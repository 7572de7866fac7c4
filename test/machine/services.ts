import type { TestEngine } from '../support/engines.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startLibrary } from './library-gateway.ts';

/** A service, and how a gateway of it starts. */
export interface TestService {
  readonly name: string;
  start(engine: TestEngine, overrides?: Record<string, string>): Promise<TestGateway>;
}

/** Every service that the machine is tested with. */
export const SERVICES: readonly TestService[] = [
  { name: 'the pet store', start: startGateway },
  { name: 'the library', start: startLibrary },
];

/** Puts samples into every table of a gateway's service. */
export async function addSamples({ service, stores }: TestGateway, count: number): Promise<void> {
  for (const { table, sample } of service.resources) {
    if (sample) await stores(table).addAll(Array.from({ length: count }, (_, index) => sample(index)));
  }
}

/** How many rows the tables of a gateway's service have, and its idempotency records. */
export async function countRows({ service, database }: TestGateway): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const name of [...service.resources.map(({ table }) => table.name), 'idempotency_keys']) {
    const [row] = await database.knex(name).count({ rows: '*' });
    counts[name] = Number(row?.rows);
  }
  return counts;
}
