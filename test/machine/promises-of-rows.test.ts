import { type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import { SQLITE } from '../support/engines.ts';
import { generateMutations } from './generated-operations.ts';
import { addSamples, SERVICES } from './services.ts';

/** The root field of a row's document. */
function rootOf(document: string): string {
  const { selectionSet } = parse(document).definitions[0] as OperationDefinitionNode; // a document of the table has one
  return selectionSet.selections.map((field) => ('name' in field ? field.name.value : ''))[0] ?? '';
}

describe.each(SERVICES)('$name', ({ start }) => {
  test('a retry gets the first answer again where the row says `isIdempotent`, and nowhere else', async () => {
    const gateway = await start(SQLITE, { LOG_LEVEL: 'silent' });
    await addSamples(gateway, 3);
    const mutations = new Map(generateMutations(createSchema(gateway.service)));
    const rows = gateway.service.resources
      .flatMap(({ operationRows }) => operationRows)
      .filter(({ method }) => method !== 'GET');
    const replaying: string[] = [];
    for (const { operationId, document } of rows) {
      const send = () => gateway.graphql(mutations.get(rootOf(document)) ?? '', {}, { 'idempotency-key': operationId });
      expect((await send()).json).not.toHaveProperty('errors');
      if ((await send()).headers.get('idempotency-replayed') === 'true') replaying.push(operationId);
    }
    const told = rows.filter(({ isIdempotent }) => isIdempotent).map(({ operationId }) => operationId);
    expect(replaying).toEqual(told);
    expect(told.length).toBeGreaterThan(0);
  });
});
