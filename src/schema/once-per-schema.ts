import type { Builder } from './builder.ts';

/** Defines a type once with each builder, whichever resource asks for it first: for a type that another resource gives, too. */
export function oncePerSchema<Defined>(define: (builder: Builder) => Defined): (builder: Builder) => Defined {
  const known = new WeakMap<Builder, Defined>();
  return (builder) => {
    const defined = known.get(builder) ?? define(builder);
    known.set(builder, defined);
    return defined;
  };
}
