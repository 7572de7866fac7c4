import fc from 'fast-check';

/** Checks every value that fast-check makes: `check` throws for one that is wrong. */
export function always<Value>(
  values: fc.Arbitrary<Value>,
  check: (value: Value) => unknown,
  options?: fc.Parameters<[Value]>,
): void {
  const property = fc.property(values, (value) => void check(value));
  fc.assert(property, options);
}
