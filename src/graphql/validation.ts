import { type DocumentNode, type GraphQLError, type GraphQLSchema, specifiedRules, validate } from 'graphql';
import type { Deprecation } from '../deprecations.ts';
import { noteDeprecations } from '../schema/compile.ts';
import { aliasLimitRule, depthLimitRule, introspectionAliasRule } from './limits.ts';

/** The most validation errors in one answer. */
const ERRORS_MAX = 10;

/**
 * A rule whose name matches `word` is skipped for a text without `sign`, where it cannot find anything. This halves the time
 * for documents that are never cached because clients write values into them. All other rules always run.
 */
const SIGNS = [
  { word: /Variable/, sign: /\$/ },
  { word: /Directive/, sign: /@/ },
  { word: /Fragment/, sign: /\.\.\.|fragment/ },
];

const RULES = [...specifiedRules, aliasLimitRule, introspectionAliasRule, depthLimitRule];

/** Gives the errors of a document or, if it has none, the deprecations of its fields. */
export type Validate = ReturnType<typeof createValidator>;

/** Creates the validator of a schema: the rules of the specification, and the limits. `text` is the source of the document. */
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
