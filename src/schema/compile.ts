import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  OperationTypeNode,
  parse,
  print,
  specifiedRules,
  type ValidationRule,
  type VariableDefinitionNode,
  validate,
  visit,
} from 'graphql';
import { type Deprecation, deprecationOf } from '../deprecations.ts';
import type { Context } from './context.ts';
import { createLoader } from './loading.ts';
import { createPlanner, type FieldPlan, type OperationPlan, type PlanOperation, type SelectionPlan } from './plan.ts';

/** A document of ours with one operation and one root field, parsed, validated and planned once. */
export interface CompiledOperation {
  /** The records of the deprecated fields that it touches. */
  readonly deprecations: readonly Deprecation[];
  readonly isMutation: boolean;
  /** What its root field is. */
  readonly field: GraphQLField<unknown, unknown>;
  /** Its variables, in their order. */
  readonly variables: readonly CompiledVariable[];
  /** What it asks of the object that the root field gives, or of each in its list; undefined for a leaf. */
  readonly selection: SelectionPlan | undefined;
  /**
   * Runs it with the arguments of its root field, each given or with its default; gives the value of that field, or a
   * promise of it, with all within it that `selection` names. Throws what a resolver throws.
   */
  run(args: Readonly<Record<string, unknown>>, context: Context): unknown;
}

/** A variable, and the argument of the root field that it is. */
export interface CompiledVariable {
  readonly name: string;
  readonly argument: GraphQLArgument;
  readonly isRequired: boolean;
}

/** Compiles a document of ours. Throws an error that stops the start when it does not fit the schema. */
export type Compile = (text: string) => CompiledOperation;

/** What documents are compiled for. */
export interface CompilerParts {
  readonly schema: GraphQLSchema;
  readonly deprecations: readonly Deprecation[];
}

/** Compiles the documents of a service. */
export function createCompiler(parts: CompilerParts): Compile {
  const plan = createPlanner(parts.schema);
  return (text) => compile(parts, plan, text);
}

function compile({ schema, deprecations }: CompilerParts, plan: PlanOperation, text: string): CompiledOperation {
  const document = parse(text);
  const found = new Set<Deprecation>();
  const [wrong] = validate(schema, document, [...specifiedRules, noteDeprecations(deprecations, found)]);
  if (wrong !== undefined) throw wrong;
  const operation = getOperationAST(document);
  const root = operation && planRootField(plan(document, operation));
  const node = root?.nodes[0];
  if (!root || !node) throw new Error(`A document of the table asks for one root field: ${text}`);
  if (node.arguments?.some(({ value }) => value.kind !== Kind.VARIABLE)) {
    throw new Error(`A document of the table takes its arguments from variables: ${text}`);
  }
  if (root.selection) forbidVariables(root.selection);
  const definitions = operation?.variableDefinitions ?? [];
  return {
    deprecations: [...found],
    isMutation: operation?.operation === OperationTypeNode.MUTATION,
    field: root.field,
    variables: definitions.map((definition) => readVariable(definition, node, root.field)),
    selection: root.selection,
    run: createLoader(root),
  };
}

function planRootField({ fields, isPlanned }: OperationPlan): FieldPlan | undefined {
  return fields.length === 1 && isPlanned ? fields[0] : undefined;
}

/** In our documents each argument is a variable, and each variable an argument: its value is taken as it is. */
function readVariable(
  { variable, type, defaultValue }: VariableDefinitionNode,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
): CompiledVariable {
  const { value: variableName } = variable.name;
  const isVariable = ({ value }: ArgumentNode) => value.kind === Kind.VARIABLE && value.name.value === variableName;
  const name = node.arguments?.find(isVariable)?.name.value;
  const argument = field.args.find((candidate) => candidate.name === name);
  if (argument === undefined) throw new Error(`$${variableName} is no argument of ${field.name}.`);
  if (defaultValue !== undefined) throw new Error(`The default of $${variableName} is for the schema to say.`);
  return { name: variableName, argument, isRequired: type.kind === Kind.NON_NULL_TYPE };
}

/** Below the root field there are no arguments of REST's. */
function forbidVariables({ fields }: SelectionPlan): void {
  for (const { nodes, selection } of fields) {
    const Variable = () => {
      throw new Error(`A document of the table has variables at its root field only: ${nodes.map(print)}`);
    };
    for (const node of nodes) visit(node, { Variable });
    if (selection) forbidVariables(selection);
  }
}

/** Validation rule that refuses nothing: notes the records of the deprecated fields that a document touches. */
export function noteDeprecations(deprecations: readonly Deprecation[], found: Set<Deprecation>): ValidationRule {
  return (context) => ({
    Field() {
      const deprecation = deprecationOf(
        deprecations,
        `${context.getParentType()?.name}.${context.getFieldDef()?.name}`,
      );
      if (deprecation !== undefined) found.add(deprecation);
    },
  });
}
