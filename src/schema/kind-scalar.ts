import { GraphQLError } from 'graphql';
import type { Kind } from '../kinds.ts';
import type { Builder } from './builder.ts';

/**
 * A scalar that GraphQL does not have, as its kind reads and writes it. What is none of its values is refused before any
 * resolver runs.
 */
export function kindScalar<In extends Out, Out>(
  builder: Builder,
  name: Parameters<Builder['scalarType']>[0],
  kind: Pick<Kind<In, Out>, 'allowed' | 'fromJson' | 'writeGraphql'>,
  description: string,
) {
  const read = (sent: unknown): In => {
    const value = kind.fromJson(sent);
    if (value === undefined) throw new GraphQLError(`${name} must be ${kind.allowed}.`);
    return value;
  };
  return builder.scalarType(name, {
    description,
    parseValue: read as never, // Pothos knows the types of each name; here it is any
    serialize: ((value: Out) => JSON.parse(kind.writeGraphql(value))) as never,
  });
}
