import { expect, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';

describeEachEngine('what one key asks at once', (engine) => {
  test('is answered, each of 100 largest lists: what does not fit at once waits', async () => {
    const { graphql, request } = await startGateway(engine);
    const lists = Array.from({ length: 50 }, () => [
      graphql('{ pets(limit: 100) { id } }'),
      request('/v1/pets?limit=100'),
    ]);
    const answers = await Promise.all(lists.flat());
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});
