import { afterEach, expect, test, vi } from 'vitest';
import { longDay } from '../../src/gateway/deprecations.ts';
import { createSchema } from '../../src/gateway/schema/schema.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each(['Pacific/Honolulu', 'UTC', 'Pacific/Auckland'])('a day is that of UTC, also in %s', (zone) => {
  vi.stubEnv('TZ', zone);
  expect(longDay(new Date('2031-01-01T00:00:00Z'))).toBe('1 January 2031');
  expect(longDay(new Date('2030-12-31T23:59:59Z'))).toBe('31 December 2030');
});

test.each(['NewPetInput.status', 'PetStatus.SOLD', 'Pet.colour', 'Nothing.at'])(
  '%s: uses of none but a field are counted',
  (coordinate) => {
    const replacement = { graphql: 'x', rest: 'x', restPath: '/' };
    const deprecations = [{ coordinate, since: new Date(), sunset: new Date(), replacement }];
    expect(() => createSchema({ ...PETSTORE, deprecations })).toThrow(
      `${coordinate}, which is deprecated, is no field`,
    );
  },
);
