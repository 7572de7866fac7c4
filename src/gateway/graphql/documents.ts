import {
  type ASTVisitor,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  specifiedRules,
  type VariableValues,
  validate,
  visit,
} from 'graphql';
import { createPlanner, type OperationPlan, type PlanOperation } from '../../lib/graphql-plan/graphql-plan.ts';
import { createLruCache } from '../caches.ts';
import type { Deprecation } from '../deprecations.ts';
import { deprecationsIn, GRAPHQL_FORMAT } from '../schema/schema.ts';
import { nameValue, withCode } from './document-errors.ts';
import { aliasLimitRule, depthLimitRule, introspectionAliasRule, LIMITS, limitError } from './limits.ts';

/** An operation of a parsed document. `plan` plans it for coerced variables; plans are cached. */
export interface PreparedOperation {
  readonly operation: OperationDefinitionNode;
  readonly isMutation: boolean;
  plan(variables: VariableValues): PreparedPlan;
}

/** A plan, and the coordinates of the deprecated fields that it has. */
export type PreparedPlan = OperationPlan & { readonly deprecated: readonly string[] };

/** A parsed and validated document. If it has errors, none of its operations may run. */
export interface PreparedDocument {
  readonly errors: readonly GraphQLError[];
  readonly operations: readonly PreparedOperation[];
  /** An estimate of its memory, in bytes. */
  readonly bytes: number;
}

const CACHE_BYTES = 32 * 2 ** 20;

/** In characters. Errors in longer texts have no locations: graphql-js reads all lines before an error to find its line. */
const LOCATED_MAX = 16_384;

/** An upper estimate of the memory that a token costs in the document and its plans, in bytes. */
const TOKEN_BYTES = 1100;

/** Creates a function that parses and validates the text of a document. Results, including errors, are in an LRU cache. */
export function createDocuments(
  schema: GraphQLSchema,
  deprecations: readonly Deprecation[],
  plan = createPlanner(schema, GRAPHQL_FORMAT),
) {
  const cache = createLruCache<PreparedDocument>(CACHE_BYTES, (_text, { bytes }) => bytes);
  const parts = { schema, deprecations, plan };
  return (text: string) => cache.get(text) ?? cache.set(text, prepareDocument(text, parts));
}

interface DocumentParts {
  readonly schema: GraphQLSchema;
  readonly deprecations: readonly Deprecation[];
  readonly plan: PlanOperation;
}

function prepareDocument(text: string, parts: DocumentParts): PreparedDocument {
  let document: DocumentNode;
  try {
    document = parseWithinLimits(text);
  } catch (error) {
    return { errors: withCode([error as GraphQLError], 'GRAPHQL_PARSE_FAILED'), operations: [], bytes: sizeOf(text) }; // parse throws nothing else
  }
  const found = validateDocument(parts.schema, document, text).map((error) => nameValue(error, document));
  const errors = withCode(found, 'GRAPHQL_VALIDATION_FAILED');
  const planOf = cachePlans(parts, document, text);
  const operations = document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((operation) => ({
      operation,
      isMutation: operation.operation === OperationTypeNode.MUTATION,
      plan: (variables: VariableValues) => planOf(operation, variables),
    }));
  return { errors, operations, bytes: sizeOf(text, document.tokenCount) };
}

/**
 * In bytes. AST nodes keep all tokens in memory, block strings once more, and a string as one piece for each of its escapes. graphql-js
 * does not count comments as tokens: here each `#` counts as one.
 */
function sizeOf(text: string, tokens = 0): number {
  const count = (mark: string) => (text.length > LIMITS.documentBytes.max ? 0 : text.split(mark).length); // such a text was not read
  return 4000 + 4 * text.length + (tokens + count('#')) * TOKEN_BYTES + count('\\') * 100;
}

/** `{ field {} }` is no GraphQL: https://spec.graphql.org/September2025/#sec-Selection-Sets */
const STRICT = { allowEmptySelectionSets: false };

/**
 * Errors quote values. Of a block string, graphql-js indents each line by its depth: 13 MB of 64 kB, in each of ten errors. The value is the
 * same. A visitor that returns another node would make a copy of the document, which has no `tokenCount`.
 */
const AS_PLAIN_STRINGS: ASTVisitor = { StringValue: (node) => void Object.assign(node, { block: false }) };

function parseWithinLimits(text: string): DocumentNode {
  const { documentBytes, tokens } = LIMITS;
  if (Buffer.byteLength(text) > documentBytes.max) throw limitError('documentBytes');
  try {
    const document = parse(text, { ...STRICT, maxTokens: tokens.max, noLocation: text.length > LOCATED_MAX });
    if (text.includes('"""')) visit(document, AS_PLAIN_STRINGS);
    return document;
  } catch (error) {
    // parse throws only GraphQLErrors; the one for `maxTokens` differs from a syntax error only in how its message begins
    throw (error as GraphQLError).message.startsWith('Syntax Error: Document contains more')
      ? limitError('tokens')
      : error;
  }
}

/** Caches the plans of a document, one for each operation and combination of Boolean variables. */
function cachePlans({ plan, deprecations }: DocumentParts, document: DocumentNode, text: string) {
  const cache = new Map<string, PreparedPlan>();
  // TOKEN_BYTES covers a plan or a planned field for each token. Fragments can make more fields, and conditions more plans. An LRU cache
  // with room for the largest plan would hold two of that size.
  const { tokenCount = 0 } = document;
  let size = 0;
  const hasConditions = text.includes('@');
  return (operation: OperationDefinitionNode, variables: VariableValues): PreparedPlan => {
    const booleans = Object.entries(hasConditions ? variables.coerced : {}).filter(
      ([, value]) => typeof value === 'boolean',
    );
    const key = [operation.name?.value, booleans].join();
    const cached = cache.get(key);
    if (cached) return cached;
    const planned = plan(document, operation, variables);
    const deprecated = deprecationsIn(planned, deprecations).map(({ coordinate }) => coordinate);
    const prepared = { ...planned, deprecated };
    // The key repeats names, and a plan keeps a list of the nodes of each field.
    const ownSize = 1 + planned.fieldCount + Math.floor(key.length / 500 + planned.nodeCount / 100);
    if (ownSize > tokenCount) return prepared;
    if (size + ownSize > tokenCount) {
      cache.clear();
      size = 0;
    }
    size += ownSize;
    cache.set(key, prepared);
    return prepared;
  };
}

const ERRORS_MAX = 10;

/**
 * Validation rules whose names match `rule` find nothing in a text without `syntax`, so they are skipped there. This halves the
 * time for documents that miss the cache because clients write values into them. All other rules always run.
 */
const SKIPPABLE_RULES = [
  { rule: /Variable/, syntax: /\$/ },
  { rule: /Directive/, syntax: /@/ },
  { rule: /Fragment/, syntax: /\.\.\.|fragment/ },
];

const RULES = [...specifiedRules, aliasLimitRule, introspectionAliasRule, depthLimitRule];

/** Validates a document by the rules of the specification and by the limits. `text` is the source of the document. */
export function validateDocument(schema: GraphQLSchema, document: DocumentNode, text: string): readonly GraphQLError[] {
  const skipped = SKIPPABLE_RULES.filter(({ syntax }) => !syntax.test(text));
  const rules = RULES.filter(({ name }) => !skipped.some(({ rule }) => rule.test(name)));
  const errors = validate(schema, document, rules, { maxErrors: ERRORS_MAX });
  // Of the rule that compares fields; graphql-js does not export its error.
  return errors.map((error) => (error.message === 'Validation aborted.' ? limitError('comparisons') : error));
}
