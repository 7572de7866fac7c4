import { GraphQLError, type GraphQLSchema, getOperationAST, Kind, OperationTypeNode, parse, validate } from 'graphql';
import {
  type Arguments,
  createPlanner,
  createValueWriter,
  NO_VARIABLES,
  pathOf,
} from '../../lib/graphql-plan/graphql-plan.ts';
import type { Deprecation } from '../deprecations.ts';
import { ANSWER_BYTES_MAX, answerTooLarge, type Context } from '../schema/context.ts';
import { deprecationsIn, REST_FORMAT } from '../schema/schema.ts';

/** Compiles the document of a REST row. Throws Error, which stops the start, when it does not fit the schema. */
export type Compile = ReturnType<typeof createCompiler>;

/** A document with one operation and one root field, parsed, validated and planned once. */
export type CompiledOperation = ReturnType<Compile>;

/** A variable of a document, and the argument of the root field that it is the value of. */
export type CompiledVariable = CompiledOperation['variables'][number];

/** Creates the compiler of a service's REST documents. */
export function createCompiler(schema: GraphQLSchema, deprecations: readonly Deprecation[]) {
  const plan = createPlanner(schema, REST_FORMAT);
  return (text: string) => {
    const document = parse(text, { allowEmptySelectionSets: false });
    const [error] = validate(schema, document);
    if (error !== undefined) throw error;
    const operation = getOperationAST(document);
    const planned = operation && plan(document, operation);
    const [root, another] = planned?.fields ?? [];
    if (!planned || !root || another) throw new Error(`A document of the table asks for one root field: ${text}`);
    const argumentNodes = root.nodes[0]?.arguments ?? [];
    if (argumentNodes.some(({ value }) => value.kind !== Kind.VARIABLE))
      throw new Error(`A document of the table takes its arguments from variables: ${text}`);
    // Each variable is the whole value of one argument of the root field.
    const variables = (operation.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => {
      const { value: name } = variable.name;
      const node = argumentNodes.find(({ value }) => value.kind === Kind.VARIABLE && value.name.value === name);
      const argument = root.field.args.find((candidate) => candidate.name === node?.name.value);
      if (argument === undefined) throw new Error(`$${name} is no argument of ${root.field.name}.`);
      if (defaultValue !== undefined) throw new Error(`The default of $${name} is for the schema to say.`);
      return { name, argument, isRequired: type.kind === Kind.NON_NULL_TYPE };
    });
    if (text.includes('__typename')) throw new Error(`A document of the table asks for no __typename: ${text}`);
    // Each variable occurs twice: in its definition and as an argument of the root field.
    if (text.split('$').length - 1 > 2 * variables.length)
      throw new Error(`A document of the table has variables at its root field only: ${text}`);
    const { resolver, field } = root;
    if (resolver === undefined) throw new Error(`${field.name} has no resolver.`);
    return {
      deprecations: deprecationsIn(planned, deprecations),
      isMutation: operation.operation === OperationTypeNode.MUTATION,
      field,
      variables,
      /** The selection of the root field; undefined for a leaf. */
      selection: root.selection,
      /** Gives checked arguments of the root field. Throws InputValidationError, and ApiError `forbidden`. */
      check: (args: Arguments, context: Context) => root.checkArguments?.(args, context) ?? args,
      /** The resolver of the root field, which gets checked arguments, and its `info`. */
      resolver,
      info: root.info(NO_VARIABLES, pathOf(root, undefined)),
      /** Completes the value of the root field as JSON. Rejects with a resolver's error; ApiError `bad_request` for too long a text. */
      write: createValueWriter<Context>(root, { bytesMax: ANSWER_BYTES_MAX, tooLarge: TOO_LARGE }),
    };
  };
}

const REFUSAL = answerTooLarge();
const TOO_LARGE = new GraphQLError(REFUSAL.message, { originalError: REFUSAL });
