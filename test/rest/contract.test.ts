import { describe, expect, it, test } from 'vitest';
import { describeEachEngine } from '../support/engines.ts';
import { useGateway } from './checked-gateway.ts';
import { AUDITS } from './contract.ts';

describeEachEngine('contract', (engine) => {
  const gateway = useGateway(engine);

  it.each(AUDITS)('$id $name', async ({ run }) => {
    await expect(run(gateway)).resolves.toBeUndefined();
  });
});

describe('the audits', () => {
  test('keep their ids for ever: new ones are added at the end, none is changed', () => {
    expect(AUDITS.map(({ id }) => id).join(' ')).toBe(
      '7A31 0C5E B2D8 4F19 E6A0 93BC 1D77 C804 5E2B A9F3 68D1 D45A 2B96 F70D 38E4 8C62 06FB BD13 71C9 E05F 4A8E 95D0 ' +
        '2F3C C1B7 57EA A362 19D4 EC80 3D5B 80F6 B74E 6219',
    );
  });

  test('have each an id of its own and a name that begins with MUST or SHOULD and ends with its section', () => {
    expect(new Set(AUDITS.map(({ id }) => id)).size).toBe(AUDITS.length);
    for (const { id, name } of AUDITS) {
      expect(id).toMatch(/^[\dA-F]{4}$/);
      expect(name).toMatch(/^(MUST|SHOULD) .+ \(§\d[^)]*\)$/);
    }
  });
});
