import {
  type DocumentNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type Token,
  type VariableValues,
} from 'graphql';
import { createLruCache } from '../lru-cache.ts';
import { conditionsOf } from '../schema/field-collection.ts';
import type { OperationPlan, PlanOperation } from '../schema/plan.ts';
import { LIMITS, limitError } from './limits.ts';
import type { Validate } from './validation.ts';

/** An operation of a document. */
export interface PreparedOperation {
  readonly document: DocumentNode;
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

/** What is remembered, in bytes. */
const MEMO_BYTES = 32 * 2 ** 20;

/** Texts that are remembered are not longer, in characters: far more than the explorers' introspection query. */
const REMEMBERED_MAX = 16_384;

/** Errors have locations where a person may look for them; finding one walks all lines before it. */
const LOCATED_LINES_MAX = 500;

/** Plans of one operation that are remembered, for different values of its conditions. */
const PLANS_MAX = 4;

/** What documents are prepared by. */
export interface DocumentParts {
  readonly validate: Validate;
  readonly plan: PlanOperation;
}

/** Gives what prepares the text of a document; what was prepared lately is remembered, errors too. */
export function createDocuments(parts: DocumentParts): (text: string) => PreparedDocument {
  const prepared = createLruCache<PreparedDocument>(MEMO_BYTES, (_text, { bytes }) => bytes);
  return (text) => {
    const known = prepared.get(text);
    if (known) return known;
    const document = prepareDocument(text, parts);
    if (text.length <= REMEMBERED_MAX) prepared.set(text, document);
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
  const conditions = text.includes('@') ? conditionsOf(document) : [];
  const operations = document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((operation) => ({
      document,
      operation,
      isMutation: operation.operation === OperationTypeNode.MUTATION,
      deprecated,
      plan: rememberPlans(plan, document, operation, conditions),
    }));
  return { errors, operations, bytes: sizeOf(text, document.tokenCount) };
}

/** A token's share of the document and of its plans, generously. */
const TOKEN_BYTES = 800;

function sizeOf(text: string, tokens = 0): number {
  return 4000 + 2 * text.length + tokens * TOKEN_BYTES;
}

function parseWithinLimits(text: string): DocumentNode {
  const { documentBytes, tokens } = LIMITS;
  if (text.length > documentBytes.most / 4 && Buffer.byteLength(text) > documentBytes.most) {
    throw limitError('documentBytes');
  }
  const noLocation =
    text.length > REMEMBERED_MAX || text.split(/[\r\n]/, LOCATED_LINES_MAX + 1).length > LOCATED_LINES_MAX;
  try {
    const document = parse(text, { maxTokens: tokens.most, noLocation });
    forgetTokens(document.loc?.startToken);
    return document;
  } catch (error) {
    // graphql-js tells this refusal from a syntax error by its message only; what parse throws is a GraphQLError
    throw (error as GraphQLError).message.includes('Parsing aborted') ? limitError('tokens') : error;
  }
}

/** Each node holds its first and last token, and those hold all others, comments too: unless the chain is cut. */
function forgetTokens(first: Token | undefined): void {
  type Link = { -readonly [Key in 'prev' | 'next']: Token[Key] };
  for (let token: Token | null = first ?? null; token !== null; ) {
    const link: Link = token;
    token = token.next;
    link.prev = null;
    link.next = null;
  }
}

function withCode(errors: readonly GraphQLError[], code: string): readonly GraphQLError[] {
  for (const { extensions } of errors) extensions.code ??= code;
  return errors;
}

function rememberPlans(
  plan: PlanOperation,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  conditions: readonly string[],
) {
  const plans = createLruCache<OperationPlan>(PLANS_MAX);
  return (variables: VariableValues): OperationPlan => {
    const values = conditions.map((name) => variables.coerced[name]).join();
    const known = plans.get(values);
    if (known) return known;
    const made = plan(document, operation, variables);
    // A token's share is for one field: a document whose fragments make more of them is planned anew.
    if (made.fieldCount <= (document.tokenCount ?? 0)) plans.set(values, made);
    return made;
  };
}
