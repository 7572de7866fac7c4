import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getOperationAST,
  isObjectType,
  Kind,
  OperationTypeNode,
  parse,
  print,
  specifiedRules,
  type ValidationRule,
  type VariableDefinitionNode,
  validate,
} from 'graphql';
import { type Deprecation, deprecationOf } from '../deprecations.ts';
import type { Context } from './context.ts';
import { type FieldPlan, planOperation } from './plan.ts';
import { schema } from './schema.ts';

/** A document of ours with one operation and one root field, parsed, validated and planned once. */
export interface CompiledOperation {
  /** The records of the deprecated fields that it touches. */
  readonly deprecations: readonly Deprecation[];
  readonly isMutation: boolean;
  /** What its root field is. */
  readonly field: GraphQLField<unknown, unknown>;
  /** Its variables, in their order. */
  readonly variables: readonly CompiledVariable[];
  /** What it asks of the object that the root field gives, or of each in its list. */
  readonly selection: Selection;
  /**
   * Runs it with the arguments of its root field, each given or with its default; gives what the resolver gives, or a
   * promise of it, in the words of the store. Throws what the resolver throws.
   */
  run(args: Readonly<Record<string, unknown>>, context: Context): unknown;
}

/** A variable, and the argument of the root field that it is. */
export interface CompiledVariable {
  readonly name: string;
  readonly argument: GraphQLArgument;
  readonly isRequired: boolean;
}

/** The fields that are asked of an object. */
export interface Selection {
  readonly type: GraphQLObjectType;
  readonly fields: readonly SelectedField[];
}

/** A field that is asked of an object, by the name that the answer has for it. */
export interface SelectedField {
  readonly name: string;
  /** The property of the object in the words of the store. */
  readonly property: string;
  readonly field: GraphQLField<unknown, unknown>;
}

/** Compiles a document of ours. Throws an error that stops the start when it does not fit the schema. */
export function compile(text: string): CompiledOperation {
  const document = parse(text);
  const deprecations = new Set<Deprecation>();
  const [wrong] = validate(schema, document, [...specifiedRules, noteDeprecations(deprecations)]);
  if (wrong !== undefined) throw wrong;
  const { node, field, resolve } = planOnlyField(document);
  const operation = getOperationAST(document);
  return {
    deprecations: [...deprecations],
    isMutation: operation?.operation === OperationTypeNode.MUTATION,
    field,
    variables: (operation?.variableDefinitions ?? []).map((definition) => readVariable(definition, node, field)),
    selection: readSelection(node, field),
    run: resolve,
  };
}

function planOnlyField(document: DocumentNode): FieldPlan {
  const [operation] = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const plan = operation && planOperation(document, operation);
  const [field, another] = plan?.fields ?? [];
  if (!field || another) throw new Error(`A document of the table asks for one root field: ${print(document)}`);
  return field;
}

/** In our documents each argument is a variable, and each variable an argument: its value is taken as it is. */
function readVariable(
  { variable, type, defaultValue }: VariableDefinitionNode,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
): CompiledVariable {
  const { value: variableName } = variable.name;
  const isVariable = ({ value }: ArgumentNode) => value.kind === Kind.VARIABLE && value.name.value === variableName;
  if (!node.arguments?.every(({ value }) => value.kind === Kind.VARIABLE)) {
    throw new Error(`A document of the table takes its arguments from variables: ${print(node)}`);
  }
  const name = node.arguments.find(isVariable)?.name.value;
  const argument = field.args.find((candidate) => candidate.name === name);
  if (argument === undefined) throw new Error(`$${variableName} is no argument of ${field.name}.`);
  if (defaultValue !== undefined) throw new Error(`The default of $${variableName} is for the schema to say.`);
  return { name: variableName, argument, isRequired: type.kind === Kind.NON_NULL_TYPE };
}

function readSelection(node: FieldNode, { type: fieldType }: GraphQLField<unknown, unknown>): Selection {
  const type = getNamedType(fieldType);
  if (!isObjectType(type)) throw new Error(`A document of the table asks for objects: ${print(node)}`);
  const fields = (node.selectionSet?.selections ?? []).map((selection) => {
    const field = selection.kind === Kind.FIELD ? type.getFields()[selection.name.value] : undefined;
    // Pothos marks what merely exposes a property, https://pothos-graphql.dev/docs/guide/fields#exposing-fields
    const property: unknown = field?.extensions.pothosExposedField;
    if (selection.kind !== Kind.FIELD || !field || typeof property !== 'string') {
      throw new Error(`A document of the table asks for exposed fields: ${print(selection)}`);
    }
    return { name: (selection.alias ?? selection.name).value, property, field };
  });
  return { type, fields };
}

/** Validation rule that refuses nothing: notes the records of the deprecated fields that a document touches. */
export function noteDeprecations(found: Set<Deprecation>): ValidationRule {
  return (context) => ({
    Field() {
      const deprecation = deprecationOf(`${context.getParentType()?.name}.${context.getFieldDef()?.name}`);
      if (deprecation !== undefined) found.add(deprecation);
    },
  });
}
