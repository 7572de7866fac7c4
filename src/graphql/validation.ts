import { type DocumentNode, type GraphQLError, type GraphQLSchema, specifiedRules, validate } from 'graphql';
import type { Deprecation } from '../deprecations.ts';
import { noteDeprecations } from '../schema/compile.ts';
import { aliasLimitRule, depthLimitRule, introspectionAliasRule } from './limits.ts';

/** How many errors a document may have before the rest of them is left out. */
const ERRORS_MAX = 10;

/**
 * Rules with such a word in their names find nothing in a text without the sign. Skipping them halves the time of a
 * document that a client writes anew for each request, values and all. A rule that no word fits runs always.
 */
const SIGNS = [
  { word: /Variable/, sign: /\$/ },
  { word: /Directive/, sign: /@/ },
  { word: /Fragment/, sign: /\.\.\.|fragment/ },
];

const RULES = [...specifiedRules, aliasLimitRule, introspectionAliasRule, depthLimitRule];

/** Says why a document cannot run or, when it can, what is deprecated and stands in it. */
export type Validate = ReturnType<typeof createValidator>;

/** Validates documents by the rules of the specification and by our limits. `text` is what was parsed, unchanged. */
export function createValidator(schema: GraphQLSchema, deprecations: readonly Deprecation[]) {
  return (document: DocumentNode, text: string): { errors: readonly GraphQLError[]; deprecations: Deprecation[] } => {
    const found = new Set<Deprecation>();
    const absent = SIGNS.filter(({ sign }) => !sign.test(text));
    const rules = RULES.filter(({ name }) => !absent.some(({ word }) => word.test(name)));
    const errors = validate(schema, document, [...rules, noteDeprecations(deprecations, found)], {
      maxErrors: ERRORS_MAX,
    });
    return { errors, deprecations: errors.length > 0 ? [] : [...found] };
  };
}
