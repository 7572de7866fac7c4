import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  isIntrospectionType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';
import { PLANNED_FIELDS_MAX } from '../../lib/graphql-plan/graphql-plan.ts';
import { ANSWER_BYTES_MAX } from '../schema/context.ts';

/**
 * The limits of one request, for every schema: a little more than the largest ordinary request needs. For tokens and depth this
 * is the introspection query of explorers, for the rest a request at the limits of `limitsByType`. In a message, `#` stands for
 * the limit, and `OBJECTS` for the noun for the answer's objects.
 */
export const LIMITS = {
  documentBytes: {
    max: 65_536,
    code: 'MAX_DOCUMENT_BYTES_EXCEEDED',
    message: 'The document is larger than # bytes: put its values into variables.',
  },
  tokens: { max: 1000, code: 'MAX_TOKENS_EXCEEDED', message: 'The document has more than # tokens.' },
  fields: {
    max: PLANNED_FIELDS_MAX,
    code: 'MAX_COST_EXCEEDED',
    message: 'The operation has more than # fields, those of its fragments counted wherever they are spread.',
  },
  // What graphql-js's OverlappingFieldsCanBeMergedRule spends on comparing them: some 700 equal fields in one place.
  comparisons: { max: 500_000, code: 'MAX_COST_EXCEEDED', message: 'The document repeats too many fields.' },
  depth: { max: 16, code: 'MAX_DEPTH_EXCEEDED', message: 'The document nests fields more than # levels deep.' },
  aliases: { max: 30, code: 'MAX_ALIASES_EXCEEDED', message: 'The document has more than # aliases.' },
  introspectionAliases: {
    max: 0,
    code: 'MAX_ALIASES_EXCEEDED',
    message: 'Introspection may have no aliases below __schema and __type, and __schema only one name.',
  },
  responseBytes: {
    max: ANSWER_BYTES_MAX,
    code: 'MAX_RESPONSE_BYTES_EXCEEDED',
    message: 'The answer would be larger than # bytes: ask for fewer OBJECTS or fields.',
  },
} as const;

/** The error of a request that exceeds a limit. `plural` is the noun for the answer's objects, `node` its location. */
export function limitError(
  limit: keyof typeof LIMITS,
  { plural = '', node }: { plural?: string; node?: FieldNode } = {},
): GraphQLError {
  const { max, code, message } = LIMITS[limit];
  const text = message.replace('#', String(max)).replace('OBJECTS', plural);
  return new GraphQLError(text, { ...(node && { nodes: node }), extensions: { code } });
}

/** The codes for what is wrong with a document, each with its meaning for documentation. */
export const DOCUMENT_CODES = {
  GRAPHQL_PARSE_FAILED: 'The document is no GraphQL; `locations` shows where.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
  PERSISTED_QUERY_NOT_SUPPORTED: 'There is a hash in place of the document: send the document.',
} as const;

/** Validation rule: limits the aliases of a document, all operations and fragments together. */
export function aliasLimitRule(context: ValidationContext): ASTVisitor {
  let aliases = 0;
  return {
    Field(node) {
      if (node.alias !== undefined && ++aliases === LIMITS.aliases.max + 1) {
        context.reportError(limitError('aliases', { node }));
      }
    },
  };
}

/**
 * Validation rule: refuses aliases below `__schema` and `__type`, and several response names of `__schema`. Introspection's lists
 * have no page size, so aliases of nested lists would multiply the answer. Aliases of `__type` itself only add to it; gql.tada
 * sends them. The depth is limited by graphql-js's MaxIntrospectionDepthRule.
 */
export function introspectionAliasRule(context: ValidationContext): ASTVisitor {
  const schemaNames = new Set<string>();
  let isRefused = false;
  return {
    Field(node) {
      const parentType = context.getParentType();
      const isIntrospection = isObjectType(parentType) && isIntrospectionType(parentType);
      if (node.name.value === '__schema') schemaNames.add((node.alias ?? node.name).value);
      if (isRefused || !((isIntrospection && node.alias !== undefined) || schemaNames.size > 1)) return;
      isRefused = true;
      context.reportError(limitError('introspectionAliases', { node }));
    },
  };
}

/** Validation rule: limits how deep an operation nests fields, in its fragments too. */
export function depthLimitRule(context: ValidationContext): ASTVisitor {
  const fragmentDepths = new Map<string, number>();
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
    const counted = fragmentDepths.get(name);
    if (counted !== undefined) return counted;
    fragmentDepths.set(name, 0); // ends the recursion of a fragment cycle; NoFragmentCyclesRule reports it
    const fragment = context.getFragment(name);
    const depth = fragment ? depthOf(fragment.selectionSet) : 0;
    fragmentDepths.set(name, depth);
    return depth;
  };
  return {
    OperationDefinition({ selectionSet }) {
      if (depthOf(selectionSet) > LIMITS.depth.max) context.reportError(limitError('depth'));
    },
  };
}
