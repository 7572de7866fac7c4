import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/kinds.ts';
import type { Builder } from '../../src/schema/builder.ts';
import { kindScalar } from '../../src/schema/kind-scalar.ts';
import { createSchema } from '../../src/schema/schema.ts';

const SMALL = {
  ...KINDS.int.within({ minimum: 0, maximum: 9 }),
  fromJson: (value: unknown) => (value === 7 ? 7 : undefined),
};

/** A schema whose query takes a scalar that GraphQL does not have. */
const SCHEMA = createSchema({
  things: 'numbers',
  deprecations: [],
  resources: [
    {
      defineTypes(builder: Builder) {
        const small = kindScalar(builder, 'Small' as never, SMALL, 'A small number.');
        const plain = builder as any; // of no kind that src/kinds.ts has
        plain.queryField('same', (t: any) =>
          t.field({ type: small, description: 'The number.', args: { of: t.arg({ type: small }) }, resolve: () => 7 }),
        );
        plain.mutationField('none', (t: any) => t.int({ description: 'None.', resolve: () => 0 }));
      },
    },
  ],
});

const refusalsOf = (text: string) => validate(SCHEMA, parse(text)).map(({ message }) => message);

test('a scalar takes what its kind takes, and says what is allowed', () => {
  expect(refusalsOf('{ same(of: 7) }')).toEqual([]);
  for (const wrong of ['8', '"7"']) {
    const [message, ...others] = refusalsOf(`{ same(of: ${wrong}) }`);
    expect(message).toContain('Small must be an integer from 0 to 9.');
    expect(others).toEqual([]);
  }
});
