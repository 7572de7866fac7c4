import {
  type DocumentNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type VariableValues,
} from 'graphql';
import { createLruCache } from '../lru-cache.ts';
import type { OperationPlan, PlanOperation } from '../schema/plan.ts';
import { LIMITS, limitError } from './limits.ts';
import type { Validate } from './validation.ts';

/** An operation of a document. */
export interface PreparedOperation {
  readonly operation: OperationDefinitionNode;
  readonly isMutation: boolean;
  /** The coordinates of what is deprecated and stands in the document. */
  readonly deprecated: readonly string[];
  /** Its plan for the variables of a request. Throws GraphQLError when a condition is no Boolean. */
  plan(variables: VariableValues): OperationPlan;
}

/** A text, parsed and validated: its operations, and the errors for which none of them can run. */
export interface PreparedDocument {
  readonly errors: readonly GraphQLError[];
  readonly operations: readonly PreparedOperation[];
  /** Bytes that it holds in memory, about. */
  readonly bytes: number;
}

/** How much is cached, in bytes. */
const CACHE_BYTES = 32 * 2 ** 20;

/** Errors have locations in texts of so many characters at most: finding a location walks all lines before it. */
const LOCATED_MAX = 16_384;

/** A token's share of the document and of its plans, generously, in bytes. */
const TOKEN_BYTES = 800;

interface DocumentParts {
  readonly validate: Validate;
  readonly plan: PlanOperation;
}

/** Gives what prepares the text of a document, within the limits. What was prepared lately is cached, errors too. */
export function createDocuments(parts: DocumentParts) {
  const cache = createLruCache<PreparedDocument>(CACHE_BYTES, (_text, { bytes }) => bytes);
  return (text: string): PreparedDocument => {
    const known = cache.get(text);
    if (known) return known;
    const document = prepareDocument(text, parts);
    cache.set(text, document);
    return document;
  };
}

function prepareDocument(text: string, { validate, plan }: DocumentParts): PreparedDocument {
  let document: DocumentNode;
  try {
    document = parseWithinLimits(text);
  } catch (error) {
    return { errors: withCode([error as GraphQLError], 'GRAPHQL_PARSE_FAILED'), operations: [], bytes: sizeOf(text) }; // parse throws nothing else
  }
  const validated = validate(document, text);
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

/** The nodes hold all tokens. Comments are tokens that graphql-js does not count: here each `#` is one. */
function sizeOf(text: string, tokens = 0): number {
  return 4000 + 2 * text.length + (tokens + text.split('#').length) * TOKEN_BYTES;
}

function parseWithinLimits(text: string): DocumentNode {
  const { documentBytes, tokens } = LIMITS;
  if (Buffer.byteLength(text) > documentBytes.most) throw limitError('documentBytes');
  try {
    return parse(text, { maxTokens: tokens.most, noLocation: text.length > LOCATED_MAX });
  } catch (error) {
    // graphql-js tells this refusal from a syntax error by its message only; what parse throws is a GraphQLError
    throw (error as GraphQLError).message.includes('Parsing aborted') ? limitError('tokens') : error;
  }
}

function withCode(errors: readonly GraphQLError[], code: string): readonly GraphQLError[] {
  for (const { extensions } of errors) extensions.code ??= code;
  return errors;
}

/** Plans of an operation that are cached, for different values of the variables in its conditions. */
const PLANS_MAX = 4;

function cachePlans(plan: PlanOperation, document: DocumentNode, operation: OperationDefinitionNode, text: string) {
  const cache = createLruCache<OperationPlan>(PLANS_MAX);
  const hasConditions = text.includes('@');
  return (variables: VariableValues): OperationPlan => {
    const booleans = Object.entries(hasConditions ? variables.coerced : {}).filter(
      ([, value]) => typeof value === 'boolean',
    );
    const key = booleans.join();
    const known = cache.get(key);
    if (known) return known;
    const made = plan(document, operation, variables);
    // A token's share is for one field: a plan whose fragments make more fields than tokens would not be counted.
    if (made.fieldCount <= (document.tokenCount ?? 0)) cache.set(key, made);
    return made;
  };
}
