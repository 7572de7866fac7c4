import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
  visit,
} from 'graphql';

/** The fragments of a document by their names. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fragments of a document. */
export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}

/**
 * GraphQL §6.3.2 CollectFields, for types that are all objects: the field nodes of each response name, in the order of
 * the answer. Throws GraphQLError when a variable gives a condition no Boolean.
 */
export function collectFields(
  selectionSets: readonly SelectionSetNode[],
  fragments: Fragments,
  variables: VariableValues,
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        const nodes = fields.get(responseName);
        if (nodes) nodes.push(selection);
        else fields.set(responseName, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        // A condition on another object type would not be valid here.
        collect(selection.selectionSet);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  selectionSets.forEach(collect);
  return fields;
}

function isIncluded(selection: SelectionNode, variables: VariableValues): boolean {
  if (!selection.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !== false;
}

/** The variables on which it depends which fields of a document are collected. */
export function conditionsOf(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  const Directive = ({ arguments: given = [] }: DirectiveNode) => {
    for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
  };
  visit(document, { Directive });
  return [...names];
}
