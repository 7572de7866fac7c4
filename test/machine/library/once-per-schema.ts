import type { Builder } from '../../../src/schema/builder.ts';

/** Defines something once with each builder, whichever resource asks for it first. */
export function oncePerSchema<Defined>(define: (builder: Builder) => Defined): (builder: Builder) => Defined {
  const known = new WeakMap<Builder, Defined>();
  return (builder) => {
    const defined = known.get(builder) ?? define(builder);
    known.set(builder, defined);
    return defined;
  };
}
