import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValueNode,
} from 'graphql';
import { LIST_LIMIT } from '../pets/pet.ts';

/**
 * What one request may ask for: more than any honest one, and not much more. Honest are the introspection
 * query of the explorers (its tokens and its depth) and a page of a hundred for each of the three statuses.
 */
export const LIMITS = {
  tokens: { most: 1000, unit: 'tokens', code: 'MAX_TOKENS_EXCEEDED' },
  depth: { most: 16, unit: 'levels of fields', code: 'MAX_DEPTH_EXCEEDED' },
  aliases: { most: 30, unit: 'aliases', code: 'MAX_ALIASES_EXCEEDED' },
  cost: { most: 500, unit: 'animals to read or write', code: 'MAX_COST_EXCEEDED' },
} as const;

/** The refusal of a request that goes beyond one of the limits. */
export function limitError(limit: keyof typeof LIMITS, node?: FieldNode): GraphQLError {
  const { most, unit, code } = LIMITS[limit];
  return new GraphQLError(`The request exceeds the limit of ${most} ${unit}.`, {
    ...(node && { nodes: node }),
    extensions: { code, http: { status: 400, spec: true } },
  });
}

/** Validation rule: refuses documents with too many aliases, whichever operation of them is run. */
export function aliasLimitRule(context: ValidationContext): ASTVisitor {
  let aliases = 0;
  return {
    Field(node) {
      if (node.alias !== undefined && ++aliases === LIMITS.aliases.most + 1) {
        context.reportError(limitError('aliases', node));
      }
    },
  };
}

/** Validation rule: refuses operations that nest fields too deeply, fragments followed. */
export function depthLimitRule(context: ValidationContext): ASTVisitor {
  const ofFragment = new Map<string, number>();
  const depthOf = ({ selections }: SelectionSetNode): number =>
    Math.max(
      0,
      ...selections.map((selection) => {
        if (selection.kind === Kind.FIELD) return 1 + (selection.selectionSet ? depthOf(selection.selectionSet) : 0);
        if (selection.kind === Kind.INLINE_FRAGMENT) return depthOf(selection.selectionSet);
        return depthOfFragment(selection.name.value);
      }),
    );
  const depthOfFragment = (name: string): number => {
    const known = ofFragment.get(name);
    if (known !== undefined) return known;
    ofFragment.set(name, 0); // a fragment that spreads itself is another rule's error; here it must end
    const fragment = context.getFragment(name);
    const depth = fragment ? depthOf(fragment.selectionSet) : 0;
    ofFragment.set(name, depth);
    return depth;
  };
  return {
    OperationDefinition({ selectionSet }) {
      if (depthOf(selectionSet) > LIMITS.depth.most) context.reportError(limitError('depth'));
    },
  };
}

/** What an operation costs and what it is run with. */
interface CostInput {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** How many animals a valid operation may read or write: a list counts its limit, everything else one. */
export function costOf({ document, operation, variables }: CostInput): number {
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const costs = new Map<string, number>(); // by response name: fields of one name are run once
  const spread = new Set<string>();
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        costs.set((selection.alias ?? selection.name).value, costOfField(selection, operation, variables));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        visit(selection.selectionSet);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.find(({ name }) => name.value === selection.name.value);
        if (fragment) visit(fragment.selectionSet);
      }
    }
  };
  visit(operation.selectionSet);
  return costs.values().reduce((sum, cost) => sum + cost, 0);
}

function costOfField(field: FieldNode, operation: OperationDefinitionNode, variables: CostInput['variables']): number {
  if (field.name.value !== 'pets') return field.name.value.startsWith('__') ? 0 : 1;
  const limit = field.arguments?.find((argument) => argument.name.value === 'limit')?.value;
  const count = Number(limit === undefined ? LIST_LIMIT.fallback : variableOrLiteral(limit, operation, variables));
  // What is no allowed limit is refused by the resolver's own rule, before any SQL.
  return count >= LIST_LIMIT.least && count <= LIST_LIMIT.most ? count : LIST_LIMIT.fallback;
}

function variableOrLiteral(
  value: ValueNode,
  operation: OperationDefinitionNode,
  variables: CostInput['variables'],
): unknown {
  if (value.kind !== Kind.VARIABLE) return value.kind === Kind.INT ? value.value : undefined;
  const name = value.name.value;
  if (Object.hasOwn(variables, name)) return variables[name];
  const definition = operation.variableDefinitions?.find((candidate) => candidate.variable.name.value === name);
  return definition?.defaultValue?.kind === Kind.INT ? definition.defaultValue.value : LIST_LIMIT.fallback;
}
