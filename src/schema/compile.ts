import {
  type DocumentNode,
  GraphQLError,
  getOperationAST,
  Kind,
  OperationTypeNode,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Deprecation, deprecationOf } from '../deprecations.ts';
import type { Context } from './context.ts';
import { planOperation, type RootPlan } from './plan.ts';
import { schema } from './schema.ts';

/** A document of ours with one operation and one root field, parsed, validated and planned once. */
export interface CompiledOperation {
  /** The records of the deprecated fields that it touches. */
  readonly deprecations: readonly Deprecation[];
  readonly isMutation: boolean;
  /**
   * Runs it with arguments in the words of the store; gives what the resolver gives, or a promise of it, in the same
   * words: the objects have at least the fields that the document asks for. Throws what the resolver throws.
   */
  run(variables: Readonly<Record<string, unknown>>, context: Context): unknown;
}

/** Compiles a document of ours. Throws an error that stops the start when it does not fit the schema. */
export function compile(text: string): CompiledOperation {
  const document = parse(text);
  const [wrong] = validate(schema, document);
  if (wrong !== undefined) throw wrong;
  const field = planOnlyField(document);
  const readArguments = planArguments(field);
  return {
    deprecations: deprecationsIn(document),
    isMutation: getOperationAST(document)?.operation === OperationTypeNode.MUTATION,
    run: (variables, context) => field.resolve(readArguments(variables), context),
  };
}

function planOnlyField(document: DocumentNode): RootPlan {
  const [operation] = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const plan = operation && planOperation(document, operation);
  const [field, another] = plan?.fields ?? [];
  const asIs = field?.leaves.every(({ responseName, property }) => responseName === property);
  if (!field || another || !asIs)
    throw new Error('A document of the table asks for one root field and its own leaves.');
  return field;
}

/** In our documents each argument is a variable: its value is taken as it is, or the schema's default. */
function planArguments({
  node,
  field,
}: RootPlan): (variables: Readonly<Record<string, unknown>>) => Record<string, unknown> {
  const sources = (node.arguments ?? []).map(({ name, value }) => {
    if (value.kind !== Kind.VARIABLE) throw new Error('A document of the table takes its arguments from variables.');
    const fallback = field.args.find((argument) => argument.name === name.value)?.defaultValue;
    return { name: name.value, variable: value.name.value, fallback };
  });
  return (variables) => {
    const args: Record<string, unknown> = {};
    for (const { name, variable, fallback } of sources) args[name] = variables[variable] ?? fallback;
    return args;
  };
}

/** The records of the deprecated fields that a valid document touches, each once. */
export function deprecationsIn(document: DocumentNode): Deprecation[] {
  const found = new Set<Deprecation>();
  const types = new TypeInfo(schema);
  const Field = () => {
    const deprecation = deprecationOf(`${types.getParentType()?.name}.${types.getFieldDef()?.name}`);
    if (deprecation !== undefined) found.add(deprecation);
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return [...found];
}

/** What was thrown below a GraphQLError that execution wrapped around it. */
export function originalError(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? originalError(error.originalError) : error;
}
