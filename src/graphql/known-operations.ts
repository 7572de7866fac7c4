import {
  type DocumentNode,
  type GraphQLError,
  getArgumentValues,
  getVariableValues,
  Kind,
  locatedError,
  type OperationDefinitionNode,
} from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { keepRecent } from '../recent.ts';
import type { Context } from '../schema/context.ts';
import { planOperation, type RootPlan } from '../schema/plan.ts';
import { schema } from '../schema/schema.ts';
import { isJsonObject } from '../web/json-body.ts';

/** Texts that are kept, of this length at most: the operations that clients repeat. */
const KNOWN_MAX = 500;
const TEXT_MAX = 4000;

/** An operation that Yoga has accepted before, with one root field: its next answers take the short way. */
export interface KnownOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly root: RootPlan;
}

/** The answer of the short way; `error` is what the resolver threw, as GraphQL locates it. */
export interface ShortAnswer {
  readonly dataJson: string;
  readonly error?: GraphQLError;
}

/** Remembers the operations that passed parsing, validation and the limits; what is used least is forgotten. */
export interface KnownOperations {
  learn(text: string, document: DocumentNode): void;
  /** The known operation that parameters ask for; undefined: only Yoga can tell. */
  find(params: GraphQLParams): KnownOperation | undefined;
}

/** An empty memory. */
export function createKnownOperations(): KnownOperations {
  const known = keepRecent<KnownOperation>(KNOWN_MAX);
  return {
    learn(text, document) {
      if (text.length > TEXT_MAX || known.get(text)) return;
      const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
      const [operation, another] = operations;
      const plan = operation && !another ? planOperation(document, operation) : undefined;
      const [root, ...more] = plan?.fields ?? [];
      if (!operation || !root || more.length > 0) return;
      known.set(text, { document, operation, root });
    },

    find(params) {
      const found = isPlain(params) ? known.get(params.query) : undefined;
      if (found === undefined) return undefined;
      const name = params.operationName ?? undefined;
      return name === undefined || name === found.operation.name?.value ? found : undefined;
    },
  };
}

/** Exactly the parameters that need no judgement; all others are Yoga's to accept or refuse. */
function isPlain(params: GraphQLParams): params is GraphQLParams & { query: string } {
  if (!isJsonObject(params) || typeof params.query !== 'string') return false;
  const { query, variables, operationName, ...others } = params as GraphQLParams;
  const noOthers = Object.keys(others).length === 0;
  const plainName = operationName === undefined || operationName === null || typeof operationName === 'string';
  return noOthers && plainName && (variables === undefined || variables === null || isJsonObject(variables));
}

/**
 * Runs a known operation; undefined, before anything has run, when its variables are for Yoga to refuse. The limits need
 * no look: its text has passed them, and its one root field costs a full page at most.
 */
export async function runKnown(
  { operation, root }: KnownOperation,
  variables: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<ShortAnswer | undefined> {
  const args = coerceArguments(operation, root, variables);
  if (args === undefined) return undefined;
  try {
    return { dataJson: `{"${root.responseName}":${writeJson(root, await root.resolve(args, context))}}` };
  } catch (thrown) {
    const error = locatedError(thrown, root.nodes, [root.responseName]);
    return { dataJson: root.isNullable ? `{"${root.responseName}":null}` : 'null', error };
  }
}

function coerceArguments(operation: OperationDefinitionNode, root: RootPlan, variables: Record<string, unknown>) {
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  try {
    return variableValues && toPlainObject(root, getArgumentValues(root.field, root.node, variableValues));
  } catch {
    return undefined;
  }
}

/** graphql-js gives objects without a prototype, which V8 keeps as hash tables: Pothos, which copies them, is slow with those. */
function toPlainObject({ field }: RootPlan, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  for (const { name } of field.args) if (name in values) args[name] = values[name];
  return args;
}

// Requests that shared one query got the same array, one right after the other: its text is written once.
let written: { readonly root?: RootPlan; readonly list?: unknown; readonly text: string } = { text: '' };

function writeJson(root: RootPlan, value: unknown): string {
  if (value === null) return 'null';
  if (!root.isList) return writeObject(root, value);
  if (written.root !== root || written.list !== value) {
    const list = value as readonly unknown[]; // what the resolver of a list field gives
    written = { root, list, text: `[${list.map((item) => writeObject(root, item)).join(',')}]` };
  }
  return written.text;
}

function writeObject({ leaves }: RootPlan, value: unknown): string {
  const object = value as Readonly<Record<string, unknown>>; // what the resolver of an object field gives
  let text = '';
  for (const { head, property, writeJson } of leaves) {
    const leaf = property === undefined ? undefined : object[property];
    text += head + (leaf === null ? 'null' : writeJson(leaf));
  }
  return `${text}}`;
}
