import {
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
} from 'graphql';
import type { OperationPlan, PlanOperation } from '../../lib/graphql-plan/graphql-plan.ts';
import { createLruCache } from '../caches.ts';
import type { Deprecation } from '../deprecations.ts';
import { noteDeprecations } from '../schema/schema.ts';
import { aliasLimitRule, depthLimitRule, introspectionAliasRule, LIMITS, limitError } from './limits.ts';

/** An operation of a parsed document. */
export interface PreparedOperation {
  readonly operation: OperationDefinitionNode;
  readonly isMutation: boolean;
  readonly deprecated: readonly string[];
  /** Plans it for coerced variables; plans are cached. */
  plan(variables: VariableValues): OperationPlan;
}

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
const TOKEN_BYTES = 800;

interface DocumentParts {
  readonly validate: ReturnType<typeof createValidator>;
  readonly plan: PlanOperation;
}

/** Creates a function that parses and validates the text of a document. Results, including errors, are in an LRU cache. */
export function createDocuments(parts: DocumentParts) {
  const cache = createLruCache<PreparedDocument>(CACHE_BYTES, (_text, { bytes }) => bytes);
  return (text: string) => cache.get(text) ?? cache.set(text, prepareDocument(text, parts));
}

function prepareDocument(text: string, { validate: validateDocument, plan }: DocumentParts): PreparedDocument {
  let document: DocumentNode;
  try {
    document = parseWithinLimits(text);
  } catch (error) {
    return { errors: withCode([error as GraphQLError], 'GRAPHQL_PARSE_FAILED'), operations: [], bytes: sizeOf(text) }; // parse throws nothing else
  }
  const validated = validateDocument(document, text);
  const errors = withCode(validated.errors, 'GRAPHQL_VALIDATION_FAILED');
  const deprecated = validated.deprecations.map(({ coordinate }) => coordinate);
  const operations = document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((operation) => ({
      operation,
      isMutation: operation.operation === OperationTypeNode.MUTATION,
      deprecated,
      plan: cachePlans(plan, document, operation, text),
    }));
  return { errors, operations, bytes: sizeOf(text, document.tokenCount) };
}

/** In bytes. AST nodes keep all tokens in memory. graphql-js does not count comments as tokens: here each `#` counts as one. */
function sizeOf(text: string, tokens = 0): number {
  return 4000 + 2 * text.length + (tokens + text.split('#').length) * TOKEN_BYTES;
}

function parseWithinLimits(text: string): DocumentNode {
  const { documentBytes, tokens } = LIMITS;
  if (Buffer.byteLength(text) > documentBytes.max) throw limitError('documentBytes');
  try {
    return parse(text, { maxTokens: tokens.max, noLocation: text.length > LOCATED_MAX });
  } catch (error) {
    // parse throws only GraphQLErrors; the one for `maxTokens` differs from a syntax error only in how its message begins
    throw (error as GraphQLError).message.startsWith('Syntax Error: Document contains more')
      ? limitError('tokens')
      : error;
  }
}

function withCode(errors: readonly GraphQLError[], code: string): readonly GraphQLError[] {
  for (const { extensions } of errors) extensions.code ??= code;
  return errors;
}

/** The most cached plans of an operation, one for each combination of Boolean variables. */
const PLANS_MAX = 4;

function cachePlans(plan: PlanOperation, document: DocumentNode, operation: OperationDefinitionNode, text: string) {
  const cache = createLruCache<OperationPlan>(PLANS_MAX);
  const hasConditions = text.includes('@');
  return (variables: VariableValues): OperationPlan => {
    const booleans = Object.entries(hasConditions ? variables.coerced : {}).filter(
      ([, value]) => typeof value === 'boolean',
    );
    const key = booleans.join();
    const cached = cache.get(key);
    if (cached) return cached;
    const planned = plan(document, operation, variables);
    // TOKEN_BYTES covers one planned field for each token. Fragments can make more fields: such a plan is not cached.
    return planned.fieldCount <= (document.tokenCount ?? 0) ? cache.set(key, planned) : planned;
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

/**
 * Creates a function that validates a document by the rules of the specification and by the limits. It gives the errors or, if
 * there are none, the deprecations of the selected fields. `text` is the source of the document.
 */
export function createValidator(schema: GraphQLSchema, deprecations: readonly Deprecation[]) {
  return (document: DocumentNode, text: string): { errors: readonly GraphQLError[]; deprecations: Deprecation[] } => {
    const found = new Set<Deprecation>();
    const skipped = SKIPPABLE_RULES.filter(({ syntax }) => !syntax.test(text));
    const rules = RULES.filter(({ name }) => !skipped.some(({ rule }) => rule.test(name)));
    const errors = validate(schema, document, [...rules, noteDeprecations(deprecations, found)], {
      maxErrors: ERRORS_MAX,
    });
    return { errors, deprecations: errors.length > 0 ? [] : [...found] };
  };
}
