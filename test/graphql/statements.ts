import type { TestGateway } from '../support/gateway.ts';
import { watchStatements } from '../support/statements.ts';

/** Counts, from now on, the statements about animals that a gateway sends to its database. */
export function countPetStatements({ database }: TestGateway): () => number {
  let count = 0;
  watchStatements(database, (sql) => {
    if (/\bpets\b/.test(sql)) count++;
  });
  return () => count;
}
