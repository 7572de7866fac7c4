import type { TestGateway } from '../support/gateway.ts';

/** Counts, from now on, the statements about animals that a gateway sends to its database. */
export function countPetStatements({ database: { knex } }: TestGateway): () => number {
  let count = 0;
  const note = (sql: string) => {
    if (/\bpets\b/.test(sql)) count++;
  };
  knex.on('query', ({ sql }: { sql: string }) => note(sql));
  const { client } = knex; // Knex types it as any
  for (const method of ['queryPrepared', 'insertPrepared']) {
    const original = client[method].bind(client);
    client[method] = (sql: string, bindings: unknown) => {
      note(sql); // a prepared statement makes no 'query' event
      return original(sql, bindings);
    };
  }
  return () => count;
}
