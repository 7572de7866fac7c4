import {
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { kindOfScalar } from '../../src/gateway/kinds.ts';
import { boundsOf } from '../../src/gateway/schema/field-checks.ts';

/** The name of a field and a document that asks for it. */
type Generated = readonly (readonly [name: string, document: string])[];

/** A document for each field of the Mutation type, with arguments that its types and their rules allow. */
export function generateMutations(schema: GraphQLSchema): Generated {
  return generate('mutation', schema.getMutationType());
}

/** A document for each field of the Query type, likewise. */
export function generateQueries(schema: GraphQLSchema): Generated {
  return generate('query', schema.getQueryType());
}

function generate(operation: string, root: GraphQLObjectType | null | undefined): Generated {
  return Object.values(root?.getFields() ?? {}).map(({ name, type, args }) => {
    // The first page: a cursor is made by the service.
    const given = args
      .filter(({ name }) => name !== 'after')
      .map((argument) => `${argument.name}: ${literal(argument.type, argument)}`);
    const selection = isObjectType(getNamedType(type)) ? ' { __typename }' : '';
    return [name, `${operation} { ${name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection} }`];
  });
}

type Input = Parameters<typeof boundsOf>[0];

/** A value of a type as GraphQL writes it. */
function literal(type: GraphQLInputType, input: Input): string {
  const bare = getNamedType(type);
  if (isEnumType(bare)) return bare.getValues()[0]?.name ?? '';
  if (isInputObjectType(bare)) {
    const fields = Object.values(bare.getFields()).map((field) => `${field.name}: ${literal(field.type, field)}`);
    return `{ ${fields.join(', ')} }`;
  }
  const { minimum, minLength } = boundsOf(input);
  const kind = kindOfScalar(bare.name, boundsOf(input));
  const value = kind?.fromText(String(minimum ?? '1'.repeat(Number(minLength ?? 1)))) ?? kind?.fromText('true');
  if (kind === undefined || value === undefined) throw new Error(`${bare} is of no kind that has an example here`);
  return kind.writeGraphql(value);
}
