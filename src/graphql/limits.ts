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
import { PLANNED_FIELDS_MAX } from '../schema/plan.ts';

/**
 * What one request may ask for, whatever the schema: more than any honest one, and not much more. Honest are the
 * introspection query of the explorers (its tokens and its depth), and what the weights of the types allow.
 */
export const LIMITS = {
  documentBytes: { most: 65_536, code: 'MAX_DOCUMENT_BYTES_EXCEEDED' },
  tokens: { most: 1000, code: 'MAX_TOKENS_EXCEEDED' },
  fields: { most: PLANNED_FIELDS_MAX, code: 'MAX_COST_EXCEEDED' },
  depth: { most: 16, code: 'MAX_DEPTH_EXCEEDED' },
  aliases: { most: 30, code: 'MAX_ALIASES_EXCEEDED' },
  introspectionAliases: { most: 0, code: 'MAX_ALIASES_EXCEEDED' },
  responseBytes: { most: 32 * 2 ** 20, code: 'MAX_RESPONSE_BYTES_EXCEEDED' },
} as const;

/** The limits of a document by itself. */
type DocumentLimit = Exclude<keyof typeof LIMITS, 'responseBytes'>;

const MESSAGES: Record<DocumentLimit, (most: number) => string> = {
  documentBytes: (most) => `The document is larger than ${most} bytes: put its values into variables.`,
  tokens: (most) => `The document has more than ${most} tokens.`,
  fields: (most) =>
    `The operation has more than ${most} fields, those of its fragments counted wherever they are spread.`,
  depth: (most) => `The document nests fields more than ${most} levels deep.`,
  aliases: (most) => `The document has more than ${most} aliases.`,
  introspectionAliases: () =>
    'Introspection may have no aliases below __schema and __type, and __schema only one name.',
};

/** The refusal of a document that goes beyond one of the limits. */
export function limitError(limit: DocumentLimit, node?: FieldNode): GraphQLError {
  const { most, code } = LIMITS[limit];
  return new GraphQLError(MESSAGES[limit](most), { ...(node && { nodes: node }), extensions: { code } });
}

/** The refusal of an answer that is too large. `things` is what it is made of. */
export function answerLimitError(things: string): GraphQLError {
  const { most, code } = LIMITS.responseBytes;
  const message = `The answer would be larger than ${most} bytes: ask for fewer ${things} or fields.`;
  return new GraphQLError(message, { extensions: { code } });
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

/**
 * Validation rule: refuses aliases within introspection, and `__schema` under several names. Its lists have no `limit`, and
 * lists within lists under several names multiply. Tools need none; gql.tada asks for some `__type` by aliases, which only add up.
 * Depth without aliases is bounded by graphql-js's MaxIntrospectionDepthRule.
 */
export function introspectionAliasRule(context: ValidationContext): ASTVisitor {
  const schemaNames = new Set<string>();
  let isRefused = false;
  return {
    Field(node) {
      const parentType = context.getParentType();
      const isWithin = isObjectType(parentType) && isIntrospectionType(parentType);
      if (node.name.value === '__schema') schemaNames.add((node.alias ?? node.name).value);
      if (isRefused || !((isWithin && node.alias !== undefined) || schemaNames.size > 1)) return;
      isRefused = true;
      context.reportError(limitError('introspectionAliases', node));
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
