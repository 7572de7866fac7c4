import {
  DeferStreamDirectiveLabelRule,
  DeferStreamDirectiveOnRootFieldRule,
  DeferStreamDirectiveOnValidOperationsRule,
  type DocumentNode,
  FragmentsOnCompositeTypesRule,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  PossibleFragmentSpreadsRule,
  print,
  type SelectionNode,
  type SelectionSetNode,
  StreamDirectiveOnListFieldRule,
  specifiedRules,
  UniqueDirectivesPerLocationRule,
  UniqueFragmentNamesRule,
  UniqueVariableNamesRule,
  type ValidationRule,
  VariablesAreInputTypesRule,
  VariablesInAllowedPositionRule,
  validate,
  visit,
} from 'graphql';
import type { Deprecation } from '../deprecations.ts';
import { noteDeprecations } from '../schema/compile.ts';
import { aliasLimitRule, depthLimitRule, introspectionAliasRule } from './limits.ts';

/** How many errors a document may have before the rest of them is left out. */
const ERRORS_MAX = 10;

/**
 * Rules that can find nothing in a text without a certain sign: a document that a client writes anew for each request,
 * values and all, is validated without them. A rule that stands in no row runs always.
 */
const RULES_OF_SIGNS: readonly (readonly [sign: RegExp, rules: readonly ValidationRule[]])[] = [
  [
    /\$/,
    [
      NoUndefinedVariablesRule,
      NoUnusedVariablesRule,
      UniqueVariableNamesRule,
      VariablesAreInputTypesRule,
      VariablesInAllowedPositionRule,
    ],
  ],
  [
    /@/,
    [
      DeferStreamDirectiveLabelRule,
      DeferStreamDirectiveOnRootFieldRule,
      DeferStreamDirectiveOnValidOperationsRule,
      KnownDirectivesRule,
      StreamDirectiveOnListFieldRule,
      UniqueDirectivesPerLocationRule,
    ],
  ],
  [
    /\.\.\.|fragment/,
    [
      FragmentsOnCompositeTypesRule,
      KnownFragmentNamesRule,
      NoFragmentCyclesRule,
      NoUnusedFragmentsRule,
      PossibleFragmentSpreadsRule,
      UniqueFragmentNamesRule,
    ],
  ],
];

const RULES = [
  ...specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule),
  aliasLimitRule,
  introspectionAliasRule,
  depthLimitRule,
];

/**
 * Validates a document, which must be what `text` was parsed to, unchanged: tells why it cannot run or, when it can, what is
 * deprecated and stands in it.
 */
export type Validate = (
  document: DocumentNode,
  text: string,
) => { readonly errors: readonly GraphQLError[]; readonly deprecations: readonly Deprecation[] };

/** Validates documents by the rules of the specification and by our limits. */
export function createValidator(schema: GraphQLSchema, deprecations: readonly Deprecation[]): Validate {
  return (document, text) => {
    const found = new Set<Deprecation>();
    const idle = new Set(RULES_OF_SIGNS.flatMap(([sign, rules]) => (sign.test(text) ? [] : rules)));
    const rules = [...RULES.filter((rule) => !idle.has(rule)), noteDeprecations(deprecations, found)];
    const errors = validate(schema, document, rules, { maxErrors: ERRORS_MAX });
    if (errors.length > 0) return { errors, deprecations: [] };
    const conflicts = findConflicts(schema, document);
    return { errors: conflicts, deprecations: conflicts.length > 0 ? [] : [...found] };
  };
}

/** Fields of one response name that cannot be merged, GraphQL §5.3.2. */
function findConflicts(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  if (document.definitions.every(hasNothingToMerge)) return [];
  // This rule compares each field with each other: with hundreds of equal ones it would hold everybody.
  return validate(schema, withoutRepetitions(document), [OverlappingFieldsCanBeMergedRule], { maxErrors: ERRORS_MAX });
}

/** Whether there are no fragments, and no two fields of one response name beside each other. */
function hasNothingToMerge(node: DocumentNode['definitions'][number] | SelectionNode): boolean {
  if (node.kind === Kind.FIELD || node.kind === Kind.OPERATION_DEFINITION) return isApart(node.selectionSet);
  return false;
}

function isApart(selectionSet: SelectionSetNode | undefined): boolean {
  const names = new Set<string>();
  return (selectionSet?.selections ?? []).every((selection) => {
    if (selection.kind !== Kind.FIELD) return false;
    const name = (selection.alias ?? selection.name).value;
    if (names.has(name)) return false;
    names.add(name);
    return hasNothingToMerge(selection);
  });
}

/** A document without fields that stand beside their like. */
function withoutRepetitions(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet: {
      leave(node) {
        const texts = new Set<string>();
        const selections = node.selections.filter((selection) => {
          if (selection.kind !== Kind.FIELD) return true;
          const text = print(selection);
          return !texts.has(text) && texts.add(text);
        });
        return selections.length === node.selections.length ? undefined : { ...node, selections };
      },
    },
  });
}
